import type { Conversation } from '../conversation.ts'
import { say, type Reply } from '../reply.ts'
import { coderReply } from './coder.ts'
import { leadReply } from './lead.ts'

/** The scripted model: what it answers depends on the request alone, never on time or chance. */
export function scriptedReply(conversation: Conversation): Reply {
  if (/title generator/i.test(conversation.system)) return say('Shipping by order value')
  const purpose = /^You are Bot A, the lead\. Purpose: (brief|answer|review)\.$/m.exec(conversation.system)?.[1]
  if (purpose !== undefined) return say(leadReply(purpose as 'brief' | 'answer' | 'review', conversation))
  return coderReply(conversation)
}
