/** Promise: whatever ends the exchange process, the exit code is one of the list, and an end without words gets them, with what to do. */
import t from 'tap'
import { verdictOf, type Ending } from '../../core/supervisor/ending.ts'
import { EXIT } from '../../core/threads.ts'

const ending: Ending = { code: null, signal: null, said: null, text: '' }
const NO_HEAP = 'FATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory'

const CASES: [name: string, ending: Partial<Ending>, code: number, words: RegExp | undefined][] = [
  ...Object.entries(EXIT).map(([name, code]) => [`${name} said itself`, { code }, code, undefined] as [string, Ending, number, undefined]),
  ['what it announced, although it was killed then', { signal: 'SIGKILL', said: EXIT.DISK }, EXIT.DISK, undefined],
  ['what it announced, although its clean-up failed', { signal: 'SIGABRT', said: EXIT.OK }, EXIT.OK, undefined],
  ['a code of Node\'s own', { code: 1 }, EXIT.THREAD, /ended by itself with code 1; the lines above say why/],
  ['SIGTERM before it could listen', { signal: 'SIGTERM' }, EXIT.OK, undefined],
  ['SIGBUS', { signal: 'SIGBUS' }, EXIT.JOURNAL, /SIGBUS: a page of a mapped file.*replay -- verify/],
  ['SIGSEGV', { signal: 'SIGSEGV' }, EXIT.JOURNAL, /SIGSEGV: native code failed.*replay -- verify/],
  ['SIGABRT', { signal: 'SIGABRT' }, EXIT.JOURNAL, /SIGABRT: native code failed.*replay -- verify/],
  ['SIGABRT of V8 without memory', { signal: 'SIGABRT', text: NO_HEAP }, EXIT.THREAD, /no JavaScript heap left.*max-old-space-size/],
  ['SIGKILL', { signal: 'SIGKILL' }, 137, /SIGKILL: by hand, or by the kernel when memory ran out/],
  ['SIGXCPU', { signal: 'SIGXCPU' }, 152, /SIGXCPU: from outside/],
]
for (const [name, given, code, words] of CASES) {
  t.test(name, async (t) => {
    const verdict = verdictOf({ ...ending, ...given })
    t.equal(verdict.code, code)
    if (words === undefined) t.equal(verdict.message, undefined)
    else t.match(verdict.message, words)
  })
}
