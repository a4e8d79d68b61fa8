import { useState, type ReactNode } from 'react'
import { Form } from 'react-aria-components'
import type { AppInfo } from '../../../src-preload/contract/methods.ts'
import { isolationLimits } from '../../../src-preload/contract/limits.ts'
import type { Settings } from '../../../src-preload/contract/settings.ts'
import { translated } from '../../i18n/language.ts'
import { t } from '../../i18n/text.ts'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { TextField } from '../../ui/fields.tsx'
import { moment } from '../../ui/format.ts'
import { FailureNotice, Notice } from '../../ui/notice.tsx'
import { Path } from '../../ui/pieces.tsx'
import { RuntimeField, runtimeProblem } from '../task-fields/runtime-field.tsx'
import { LimitsForm } from './limits-form.tsx'
import { useSave } from './use-save.ts'

const proxyTones = { stopped: 'neutral', starting: 'neutral', ready: 'good', restarting: 'warn', failed: 'bad' } as const

/** What the app runs on, and which OpenCode it starts. */
export function RuntimesSection({ settings, info }: { readonly settings: Settings; readonly info: AppInfo }): ReactNode {
  const { versions, proxy } = info
  return (
    <div className="stack-wide">
      {info.runtimeNote === null ? null : <Notice tone="warn" title={translated(info.runtimeNote)} />}
      <dl className="facts facts-roomy">
        <Fact label={t.nav.appName} value={versions.app} />
        <Fact label="OpenCode" value={versions.openCode ?? t.word.none} />
        <Fact label="Electron" value={versions.electron} />
        <Fact label="Chromium" value={versions.chromium} />
        <Fact label="Node" value={versions.node} />
        <Fact label="SQLite" value={translated(versions.sqlite)} />
        <Fact label={t.runtimes.platform} value={info.platform} />
        <dt>{t.runtimes.proxy}</dt>
        <dd>
          <span className="line">
            <Badge tone={proxyTones[proxy.state]}>{t.runtimes.proxyStates[proxy.state]}</Badge>
            {proxy.port === null ? null : <span className="mono">127.0.0.1:{proxy.port}</span>}
            {proxy.note === null ? null : <span className="soft">{translated(proxy.note)}</span>}
          </span>
        </dd>
        <dt>{t.runtimes.data}</dt>
        <dd>
          <Path value={info.dataDir} />
        </dd>
      </dl>
      {info.openCodeFailure === null ? null : <FailureNotice failure={info.openCodeFailure} />}
      <DefaultRuntime settings={settings} />
      <BinaryForm key={settings.openCodeBinary} settings={settings} />
    </div>
  )
}

function Fact({ label, value }: { readonly label: string; readonly value: string }): ReactNode {
  return (
    <>
      <dt>{label}</dt>
      <dd>{value}</dd>
    </>
  )
}

function DefaultRuntime({ settings }: { readonly settings: Settings }): ReactNode {
  const { save, failure } = useSave()
  const { runtime = 'opencode-server', grant } = settings.defaults
  return (
    <div className="stack-tight">
      <RuntimeField value={runtime} onChange={(next) => { save({ ...settings, defaults: { ...settings.defaults, runtime: next } }) }} error={runtimeProblem(runtime, grant)} />
      <p className="field-hint">{t.runtime.defaultHint}</p>
      {failure === null ? null : <FailureNotice failure={failure} />}
    </div>
  )
}

function BinaryForm({ settings }: { readonly settings: Settings }): ReactNode {
  const [path, setPath] = useState(settings.openCodeBinary ?? '')
  const { save, failure, isPending } = useSave()
  const next = path.trim() === '' ? null : path.trim()
  return (
    <Form
      className="form"
      onSubmit={(event) => {
        event.preventDefault()
        save({ ...settings, openCodeBinary: next })
      }}
    >
      <TextField label={t.runtimes.binary} hint={t.runtimes.binaryHint} value={path} onChange={setPath} mono placeholder={t.runtimes.bundled} />
      {failure === null ? null : <FailureNotice failure={failure} />}
      <div className="line">
        <Button type="submit" isPending={isPending} isDisabled={next === settings.openCodeBinary}>
          {t.word.save}
        </Button>
        {settings.openCodeBinary === null ? null : (
          <Button variant="plain" onPress={() => { save({ ...settings, openCodeBinary: null }) }}>
            {t.runtimes.useBundled}
          </Button>
        )}
      </div>
    </Form>
  )
}

/** What keeps the bots in: probed, and what to do where it is missing. */
export function IsolationSection({ settings, info }: { readonly settings: Settings; readonly info: AppInfo }): ReactNode {
  const { isolation } = info
  const untested = isolation.level === 'seatbelt-untested'
  const rules = untested ? { ...t.isolation.rules, ...t.isolation.seatbeltRules } : t.isolation.rules
  return (
    <div className="stack-wide">
      <Notice tone={!isolation.usable ? 'bad' : untested ? 'warn' : 'good'} title={!isolation.usable ? t.isolation.unusable : untested ? t.isolation.untested : t.isolation.usable}>
        <div>{translated(isolation.summary)}</div>
      </Notice>
      {isolation.failure === null ? null : <FailureNotice failure={isolation.failure} />}
      <dl className="facts facts-roomy">
        <Fact label={t.isolation.level} value={t.isolation.levels[isolation.level]} />
        <Fact label={t.isolation.checked} value={moment(isolation.checkedAt)} />
        <Fact label={t.word.details} value={translated(isolation.detail)} />
      </dl>
      <SandboxLimits settings={settings} info={info} />
      <h2 className="section-title">{t.isolation.inside}</h2>
      <ul className="notes soft">
        {Object.values(rules).map((rule) => (
          <li key={rule}>{rule}</li>
        ))}
      </ul>
    </div>
  )
}

const gib = 2 ** 30
const mib = 2 ** 20
const minute = 60_000

/** What the coder's sandbox and each command's may use at most. */
function SandboxLimits({ settings, info }: { readonly settings: Settings; readonly info: AppInfo }): ReactNode {
  const words = t.isolation.limits
  const most = isolationLimits
  return (
    <>
      <h2 className="section-title">{t.isolation.limitsTitle}</h2>
      <p className="soft">{t.isolation.limitsHint}</p>
      <LimitsForm settings={settings} machineBytes={info.memoryBytes} />
      <dl className="facts facts-roomy">
        <Fact label={words.memory} value={words.memoryMost({ gib: most.processMemoryBytesMin / gib })} />
        <Fact label={words.time} value={words.timeMost({ minutes: most.commandMsMax / minute })} />
        <Fact label={words.temporary} value={words.temporaryMost({ mib: most.tmpBytesMax / mib })} />
        <Fact label={words.output} value={words.outputMost({ mib: most.commandOutputBytesMax / mib })} />
        <Fact label={words.disk} value={words.diskLeast({ gib: most.diskFreeBytesMin / gib })} />
      </dl>
    </>
  )
}
