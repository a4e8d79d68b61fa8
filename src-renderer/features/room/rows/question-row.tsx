import { useState, type ReactNode } from 'react'
import { Form, TextArea, TextField, Label } from 'react-aria-components'
import type { Author, TaskId } from '../../../../src-preload/contract/ids.ts'
import type { EntryBody } from '../../../../src-preload/contract/rows.ts'
import { failureOf, newCommandId } from '../../../bridge.ts'
import { translated } from '../../../i18n/language.ts'
import { t } from '../../../i18n/text.ts'
import { useNowMs } from '../../../store/clock.ts'
import { useTaskById } from '../../../store/hooks.ts'
import { useAct } from '../../../store/queries.ts'
import { useOpen } from '../../../store/ui-store.ts'
import { Badge, type Tone } from '../../../ui/badge.tsx'
import { Button, Keys } from '../../../ui/button.tsx'
import { countdown } from '../../../ui/format.ts'
import { isChord, onMac } from '../../../ui/keys.ts'
import { Prose } from '../../../ui/markdown.tsx'
import { FailureNotice, Notice } from '../../../ui/notice.tsx'
import { WriteBriefDialog } from '../write-brief.tsx'

type Question = EntryBody & { is: 'question' }

const tones: Readonly<Record<Question['state'], Tone>> = { open: 'lead', 'asked-owner': 'warn', answered: 'good', expired: 'bad', withdrawn: 'neutral' }

/** A question of Bot B: Bot A is asked first, and the owner can answer instead at any time. Or the app's own: for the brief, which is written and not answered. */
export function QuestionRow({ taskId, author, body }: { readonly taskId: TaskId; readonly author: Author; readonly body: Question }): ReactNode {
  const live = body.state === 'open' || body.state === 'asked-owner'
  const [open, setOpen] = useOpen(`answer ${body.questionId}`, false)
  const now = useNowMs(live)
  const asksOwner = body.state === 'asked-owner'
  return (
    <div role="group" className={`card-question${asksOwner ? ' card-question-owner' : ''}`} aria-label={t.row.question} data-question-id={body.questionId}>
      <Prose text={author === 'host' ? translated(body.text) : body.text} />
      {body.options.length === 0 || (live && (open || asksOwner)) ? null : (
        <ul className="question-options">
          {body.options.map((option) => (
            <li key={option}>
              <Badge>{option}</Badge>
            </li>
          ))}
        </ul>
      )}
      <div className="line">
        <Badge tone={tones[body.state]}>{t.row.questionStates[body.state]}</Badge>
        {live ? <span className="quiet small">{t.row.answerLeft({ time: countdown(body.deadlineAt - now) })}</span> : null}
        <span className="grow" />
        {live && !asksOwner ? (
          <Button
            size="small"
            variant="plain"
            aria-expanded={open}
            onPress={() => {
              setOpen(!open)
            }}
          >
            {t.row.answerNow}
          </Button>
        ) : null}
      </div>
      {!live || (!asksOwner && !open) ? null : author === 'host' ? <WriteBriefButton taskId={taskId} /> : <AnswerForm taskId={taskId} body={body} />}
    </div>
  )
}

function WriteBriefButton({ taskId }: { readonly taskId: TaskId }): ReactNode {
  const [writing, setWriting] = useState(false)
  const task = useTaskById(taskId)
  if (task === undefined) return null
  return (
    <div className="line">
      <Button
        size="small"
        variant="primary"
        onPress={() => {
          setWriting(true)
        }}
      >
        {t.row.writeBrief}
      </Button>
      {writing ? (
        <WriteBriefDialog
          task={task}
          onClose={() => {
            setWriting(false)
          }}
        />
      ) : null}
    </div>
  )
}

function AnswerForm({ taskId, body }: { readonly taskId: TaskId; readonly body: Question }): ReactNode {
  const [text, setText] = useState('')
  const answer = useAct('task.answer')
  const send = (words: string): void => {
    if (words.trim() === '' || answer.isPending || answer.isSuccess) return
    answer.mutate({ commandId: newCommandId(), taskId, questionId: body.questionId, text: words })
  }
  if (answer.isSuccess) return <Notice tone="good" title={t.row.answerSent} />
  return (
    <Form
      className="stack"
      onSubmit={(event) => {
        event.preventDefault()
        send(text)
      }}
    >
      {body.options.length === 0 ? null : (
        <div className="question-options">
          {body.options.map((option) => (
            <Button
              key={option}
              size="small"
              wraps
              isDisabled={answer.isPending}
              onPress={() => {
                setText(option)
              }}
            >
              {option}
            </Button>
          ))}
        </div>
      )}
      <TextField className="field" value={text} onChange={setText} maxLength={8_000} isDisabled={answer.isPending}>
        <Label className="unseen">{t.row.answerLabel}</Label>
        <TextArea
          className="input"
          rows={2}
          placeholder={t.row.answerLabel}
          onKeyDown={(event) => {
            if (isChord(event.nativeEvent, 'mod+enter', onMac())) send(text)
          }}
        />
      </TextField>
      {answer.isError ? <FailureNotice failure={failureOf(answer.error)} /> : null}
      <div className="line">
        <span className="quiet small grow">{t.row.answerHint}</span>
        <Keys chord="mod+enter" />
        <Button type="submit" variant="primary" size="small" isPending={answer.isPending} isDisabled={text.trim() === ''}>
          {t.row.answerSend}
        </Button>
      </div>
    </Form>
  )
}
