import type { LucideIcon } from 'lucide-react'
import { Bot, Settings2, User } from 'lucide-react'
import type { ReactNode } from 'react'
import type { Author } from '../../src-preload/contract/ids.ts'
import { t } from '../i18n/text.ts'

export type Tone = 'neutral' | 'ink' | 'good' | 'warn' | 'bad' | 'lead' | 'coder'

/** A word in a pill, with a colour that never stands alone: the word says the same. */
export function Badge({ tone = 'neutral', icon: Icon, square = false, title, children }: { readonly tone?: Tone; readonly icon?: LucideIcon; readonly square?: boolean; readonly title?: string; readonly children: ReactNode }): ReactNode {
  return (
    <span className={`badge${tone === 'neutral' ? '' : ` tone-${tone}`}${square ? ' badge-square' : ''}`} title={title}>
      {Icon === undefined ? null : <Icon className="icon" aria-hidden />}
      {children}
    </span>
  )
}

const letters: Readonly<Record<Author, ReactNode>> = {
  owner: <User className="icon" aria-hidden />,
  lead: 'A',
  coder: 'B',
  host: <Settings2 className="icon" aria-hidden />,
}

/** Who speaks, as a small square in their colour. Decoration: the name is said beside it. */
export function AuthorMark({ author }: { readonly author: Author }): ReactNode {
  return (
    <span className={`mark mark-${author}`} aria-hidden>
      {letters[author]}
    </span>
  )
}

/** A speaker's name in their colour. */
export function AuthorName({ author }: { readonly author: Author }): ReactNode {
  return <span className={`name name-${author}`}>{t.word[author]}</span>
}

/** Says that a text was written by a bot, so that it is read as its words and not as the app's. */
export function WrittenBy({ author }: { readonly author: Author }): ReactNode {
  if (author === 'host') return null
  return (
    <Badge tone={author === 'owner' ? 'ink' : author} square icon={author === 'owner' ? User : Bot}>
      {t.word.writtenBy({ who: t.word[author] })}
    </Badge>
  )
}
