import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { linkedTask, linkedTaskIn } from './deep-link.ts'

describe('a link', () => {
  it('names the task whose id it carries', () => {
    expect(linkedTask('countersign://task/tsk_01JABC')).toBe('tsk_01JABC')
  })

  it.each([
    'countersign://task/', 'countersign://task', 'countersign:task/tsk_1', 'COUNTERSIGN://task/tsk_1', 'countersign://TASK/tsk_1', 'countersign://task/tsk_1/', 'countersign://task/tsk_1/approve', 'countersign://task/tsk_1?approve=1', 'countersign://task/tsk_1#x',
    'countersign://task/../settings', 'countersign://task/%74sk_1', 'countersign://task//tsk_1', 'countersign://me@task/tsk_1', 'countersign://task:80/tsk_1', 'countersign://task/tsk_1\n', ' countersign://task/tsk_1', 'countersign://task/tsk 1', 'countersign://task/tsk\u0000', 'countersign://task/тsk_1',
    'https://task/tsk_1', 'javascript:alert(1)', 'file:///etc/passwd', '', `countersign://task/${'a'.repeat(200)}`, `countersign://task/tsk_1${' '.repeat(1_000_000)}`,
  ])('that is not exactly that names nothing: %j', (link) => {
    expect(linkedTask(link.slice(0, 2_000_000))).toBe(null)
  })

  it('never gives anything but an id, whatever it is', () => {
    fc.assert(fc.property(fc.string({ unit: 'binary', maxLength: 200 }), (rest) => {
      const id = linkedTask(`countersign://task/${rest}`)
      if (id !== null) expect(id).toMatch(/^[A-Za-z0-9][A-Za-z0-9._:-]*$/)
    }), { numRuns: 2_000 })
  })

  it('is found among the arguments of a start, once', () => {
    expect(linkedTaskIn(['/opt/Countersign/countersign', '--user-data-dir=/x', 'countersign://task/tsk_1'])).toBe('tsk_1')
    expect(linkedTaskIn(['/opt/Countersign/countersign'])).toBe(null)
    expect(linkedTaskIn(['countersign://task/tsk_1', 'countersign://task/tsk_2'])).toBe(null)
    expect(linkedTaskIn(['countersign://task/tsk_1', 'Countersign://task/tsk_2'])).toBe(null)
  })
})
