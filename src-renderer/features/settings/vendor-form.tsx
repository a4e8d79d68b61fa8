import { useState, type ReactNode } from 'react'
import { Form } from 'react-aria-components'
import type { Settings } from '../../../src-preload/contract/settings.ts'
import { t } from '../../i18n/text.ts'
import { Button } from '../../ui/button.tsx'
import { TextField } from '../../ui/fields.tsx'
import { FailureNotice } from '../../ui/notice.tsx'
import { useSave } from './use-save.ts'
import { vendorDraft, vendorOf, vendorProblems, type VendorDraft } from './vendor-draft.ts'

/** The program that fallbacks run. Taking it away turns them off. */
export function VendorForm({ settings }: { readonly settings: Settings }): ReactNode {
  const { vendor, ...rest } = settings.fallbacks
  const [draft, setDraft] = useState(() => vendorDraft(vendor))
  const [tried, setTried] = useState(false)
  const { save, failure, isPending, saved } = useSave()
  const problems = vendorProblems(draft)
  const shown = tried ? problems : {}
  const field = (name: keyof VendorDraft, more: { readonly lines?: number; readonly placeholder?: string } = {}): ReactNode => (
    <TextField label={t.fallbacks.fields[name].label} hint={t.fallbacks.fields[name].hint} value={draft[name]} onChange={(value) => { setDraft((now) => ({ ...now, [name]: value })) }} error={shown[name]} mono={name !== 'label'} {...more} />
  )
  return (
    <Form
      className="form"
      validationBehavior="aria"
      onSubmit={(event) => {
        event.preventDefault()
        setTried(true)
        if (Object.keys(problems).length === 0) save({ ...settings, fallbacks: { ...rest, vendor: vendorOf(draft) } })
      }}
    >
      <h2 className="section-title">{t.fallbacks.program}</h2>
      <p className="soft">{t.fallbacks.programIntro}</p>
      <div className="field-pair">
        {field('label', { placeholder: 'Muse' })}
        {field('program', { placeholder: '/usr/local/bin/muse' })}
      </div>
      <div className="field-pair">
        {field('serveArgs', { lines: 4 })}
        {field('execArgs', { lines: 4 })}
      </div>
      {field('homeFolder')}
      <div className="field-pair">
        {field('hosts', { lines: 3, placeholder: 'api.example.com' })}
        {field('folders', { lines: 3 })}
      </div>
      {failure === null ? null : <FailureNotice failure={failure} />}
      <div className="line">
        <Button type="submit" isPending={isPending}>
          {t.word.save}
        </Button>
        {vendor === undefined ? null : (
          <Button variant="plain" onPress={() => { setDraft(vendorDraft(undefined)); save({ ...settings, fallbacks: { ...rest, warmEnabled: false, execEnabled: false } }) }}>
            {t.fallbacks.removeProgram}
          </Button>
        )}
        {saved && !isPending ? <span className="quiet small" role="status">{t.fallbacks.saved}</span> : null}
      </div>
    </Form>
  )
}
