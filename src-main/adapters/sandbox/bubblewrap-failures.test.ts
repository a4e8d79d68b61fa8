import { expect, test } from 'vitest'
import { explainBubblewrap } from './bubblewrap-failures.ts'

const rows: readonly (readonly [string, RegExp, RegExp])[] = [
  ['spawn /usr/bin/bwrap ENOENT', /not installed/, /apt install bubblewrap/],
  ['spawn /usr/bin/bwrap EACCES', /may not be run/, /permission/],
  ['bwrap: Unknown option --disable-userns', /too old/, /0\.8\.0/],
  ['bwrap: No permissions to creating new namespace, likely because the kernel does not allow non-privileged user namespaces.', /does not let ordinary users/, /unprivileged_userns_clone/],
  ['bwrap: No permissions to create new namespace', /does not let ordinary users/, /unprivileged_userns_clone/],
  ['bwrap: Creating new namespace failed: nesting depth or /proc/sys/user/max_*_namespaces exceeded (ENOSPC)', /no more user namespaces/, /max_user_namespaces/],
  ['bwrap: loopback: Failed RTM_NEWADDR: Operation not permitted', /AppArmor/, /apparmor\.d/],
  ['bwrap: setting up uid map: Permission denied', /AppArmor/, /apparmor\.d/],
  ['bwrap: Creating new namespace failed: Operation not permitted', /refuses/, /container/i],
  ['bwrap: Can\'t mount proc on /newroot/proc: Operation not permitted', /container/, /outside the container/],
  ['prlimit: failed to set the NPROC resource limit: Operation not permitted', /no more than/, /Settings → Isolation/],
  ['bwrap: prctl(PR_SET_SECCOMP): Invalid argument', /system-call filter/, /CONFIG_SECCOMP_FILTER/],
]

test.each(rows)('explains “%s” and says what to do', (text, message, todo) => {
  const explained = explainBubblewrap(text, '/usr/bin/bwrap')
  expect(explained.code).toBe('isolation-unavailable')
  expect(explained.message).toMatch(message)
  expect(explained.todo).toMatch(todo)
})

test('hands on the words of an unknown complaint', () => {
  expect(explainBubblewrap('bwrap: Can\'t find source path /x: No such file or directory\n', '/usr/bin/bwrap')).toMatchObject({ code: 'sandbox-failed', message: expect.stringContaining('Can\'t find source path /x') as string })
})

test('names the profile for the very bwrap that was refused, and for one in an AppImage says that none can be made', () => {
  const refused = 'bwrap: setting up uid map: Permission denied'
  expect(explainBubblewrap(refused, '/usr/bin/bwrap').todo).toContain('profile bwrap "/usr/bin/bwrap" flags=(unconfined)')
  expect(explainBubblewrap(refused, '/opt/Countersign/resources/bwrap/bwrap').todo).toContain('profile bwrap "/opt/Countersign/resources/bwrap/bwrap" flags=(unconfined)')
  const inImage = explainBubblewrap(refused, '/tmp/.mount_Count3rX/resources/bwrap/bwrap').todo
  expect([inImage.includes('sudo apt install bubblewrap'), inImage.includes('.mount_')]).toEqual([true, false])
})
