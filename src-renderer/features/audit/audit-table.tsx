import type { ReactNode } from 'react'
import { Cell, Column, Row, Table, TableBody, TableHeader, TableLayout, Virtualizer } from 'react-aria-components'
import type { AuditRow } from '../../../src-preload/contract/methods.ts'
import { t } from '../../i18n/text.ts'
import { count, moment } from '../../ui/format.ts'
import { isAsRecorded, summaryShown } from './summary.ts'

/** The events as a table; only the rows in view are drawn. */
export function AuditTable({ rows, onChoose }: { readonly rows: readonly AuditRow[]; readonly onChoose: (row: AuditRow) => void }): ReactNode {
  return (
    <Virtualizer layout={TableLayout} layoutOptions={{ rowHeight: 28, headingHeight: 28 }}>
      <Table
        className="audit-table"
        aria-label={t.audit.title}
        selectionMode="single"
        selectionBehavior="replace"
        onSelectionChange={(keys) => {
          const key = keys === 'all' ? undefined : [...keys][0]
          const row = rows.find((one) => one.seq.toString() === key)
          if (row !== undefined) onChoose(row)
        }}
      >
        <TableHeader className="audit-header">
          <Column className="audit-cell" width={80}>
            {t.audit.seq}
          </Column>
          <Column className="audit-cell" width={184}>
            {t.audit.time}
          </Column>
          <Column className="audit-cell" width={72}>
            {t.audit.actor}
          </Column>
          <Column className="audit-cell" width={200}>
            {t.audit.event}
          </Column>
          <Column className="audit-cell" isRowHeader minWidth={160}>
            {t.audit.summary}
          </Column>
        </TableHeader>
        <TableBody items={rows.map((row) => ({ ...row, id: row.seq.toString() }))} renderEmptyState={() => <div className="audit-empty quiet">{t.audit.nothing}</div>}>
          {(row) => (
            <Row id={row.id} className="audit-row" textValue={summaryShown(row)}>
              <Cell className="audit-cell mono quiet">{count(row.seq)}</Cell>
              <Cell className="audit-cell">{moment(row.at)}</Cell>
              <Cell className="audit-cell">{row.actor}</Cell>
              <Cell className="audit-cell mono">{row.type}</Cell>
              <Cell className="audit-cell"><span title={summaryShown(row)} {...(isAsRecorded(row) ? { lang: 'en' } : {})}>{summaryShown(row)}</span></Cell>
            </Row>
          )}
        </TableBody>
      </Table>
    </Virtualizer>
  )
}
