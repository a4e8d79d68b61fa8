import type { Digest, GrantId, QuestionId, TurnId } from '../../../src-preload/contract/ids.ts'

/** What the host does to the outside, decided together with the events and run after the commit. */
export type Effect =
  | { readonly kind: 'workspace.prepare' }
  | { readonly kind: 'lead.brief' }
  | { readonly kind: 'lead.answer'; readonly questionId: QuestionId }
  | { readonly kind: 'lead.review' }
  | { readonly kind: 'coder.start' }
  | { readonly kind: 'coder.session' }
  | { readonly kind: 'coder.submit'; readonly turnId: TurnId }
  | { readonly kind: 'coder.answerQuestion'; readonly questionId: QuestionId; readonly turnId: TurnId }
  | { readonly kind: 'coder.answerPermission'; readonly permissionId: string; readonly allow: boolean; readonly message: string; readonly command: { readonly text: string; readonly cwd: string } | null; readonly grantId?: GrantId }
  | { readonly kind: 'coder.answerCommand'; readonly askId: string; readonly allow: boolean; readonly message: string; readonly grantId?: GrantId }
  | { readonly kind: 'coder.reconcile'; readonly turnId: TurnId }
  | { readonly kind: 'coder.stop' }
  | { readonly kind: 'evidence.collect'; readonly turnId: TurnId }
  | { readonly kind: 'verify.run' }
  | { readonly kind: 'workspace.apply'; readonly treeDigest: Digest }
  | { readonly kind: 'workspace.observe'; readonly treeDigest: Digest }
  | { readonly kind: 'workspace.dispose' }

export type EffectKind = Effect['kind']

/**
 * What becomes of an effect that was open when the app ended.
 * replay: safe to run again. retire: belonged to an agent that is gone, or may have happened: never again by itself.
 * observe: look at the outside first, then settle.
 */
export const afterRestart = {
  'workspace.prepare': 'replay',
  'lead.brief': 'replay',
  'lead.answer': 'retire',
  'lead.review': 'replay',
  'coder.start': 'retire',
  'coder.session': 'retire',
  'coder.submit': 'retire',
  'coder.answerQuestion': 'retire',
  'coder.answerPermission': 'retire',
  'coder.answerCommand': 'retire',
  'coder.reconcile': 'retire',
  'coder.stop': 'retire',
  'evidence.collect': 'replay',
  'verify.run': 'replay',
  'workspace.apply': 'observe',
  'workspace.observe': 'replay',
  'workspace.dispose': 'replay',
} as const satisfies Record<EffectKind, 'replay' | 'retire' | 'observe'>
