/**
 * Promise: no file is in no suite; a run that ends early says what it left out, and shares leave out nothing
 * together; a file that crashes, asserts nothing or does not end has failed.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { deepFiles, isAlone, quickFiles, shareOf, shuffled } from '../suite/files.ts'
import { runAll } from '../suite/lanes.ts'
import { eachRound, rounds } from '../suite/rounds.ts'
import { runFile, type Outcome } from '../suite/run_file.ts'

const directory = mkdtempSync(join(tmpdir(), 'ringbook-suites-'))
t.teardown(() => rmSync(directory, { recursive: true, force: true }))
/** A test file with this source. */
function planted(name: string, source: string): string {
  const path = join(directory, name)
  writeFileSync(path, `import t from '${import.meta.resolve('tap')}'\n${source}\n`)
  return path
}
const ENDS_WELL = 't.pass()\nt.test("two", async (t) => { t.pass(); t.pass() })'

t.test('which file is where', async (t) => {
  const deep = deepFiles()
  const both = 'test/crash/kill_under_load.test.ts'
  t.ok(deep.includes(both) && quickFiles().includes(both), 'who asks for rounds is in both')
  t.ok(deep.includes('test/crash/small_disk.deep.ts') && !quickFiles().includes('test/crash/small_disk.deep.ts'), 'deep alone')
  t.notOk(deep.includes('test/unit/ids.test.ts'), 'quick alone')
  t.ok(isAlone('test/security/attacks/pools.deep.ts') && isAlone('test/unit/ring_wait.test.ts') && !isAlone('test/unit/ids.test.ts'))
  const shares = [1, 2, 3, 4].flatMap((k) => shareOf(deep, { k, n: 4 }))
  t.strictSame(shares.sort(), deep, 'four shares are all')
  t.strictSame([...shuffled(deep, 7)].sort(), deep, 'the order changes nothing else')
  t.strictSame(shuffled(deep, 7), shuffled(deep, 7), 'and is the same again')
  t.not(shuffled(deep, 7)[0], shuffled(deep, 8)[0])
})

t.test('rounds', async (t) => {
  const said: string[] = []
  const { env } = process
  const before = { ROUNDS: env['ROUNDS'], SUITE_SECONDS: env['SUITE_SECONDS'] }
  t.teardown(() => {
    for (const [name, value] of Object.entries(before)) {
      if (value === undefined) delete env[name]
      else env[name] = value
    }
  })
  delete env['ROUNDS']
  env['SUITE_SECONDS'] = '0'
  const comment = (...words: unknown[]): void => void said.push(words.join(' '))
  t.strictSame([...eachRound({ comment }, { short: 2, deep: 9 })], [0, 1], 'not fewer than the short ones')
  env['ROUNDS'] = '5'
  t.strictSame([...eachRound({ comment }, { short: 2, deep: 9 })], [0, 1, 2, 3, 4], 'as many as were asked for, whatever the time')
  t.equal(rounds({ short: 2, deep: 9 }), 5)
})

t.test('how a file ends', async (t) => {
  const run = async (name: string, source: string, seconds = 60): Promise<Partial<Outcome>> => {
    const { passed, failed, skipped } = await runFile(planted(name, source), {}, seconds)
    return { passed, failed, skipped }
  }
  t.strictSame(await run('well.ts', ENDS_WELL), { passed: 3, failed: 0, skipped: 0 })
  t.match(await run('badly.ts', `${ENDS_WELL}\nt.equal(1, 2)`), { passed: 3, failed: 1 })
  t.match(await run('skipped.ts', 't.test("two", { skip: "why" }, async () => undefined)'), { failed: 0, skipped: 1 })
  t.match(await run('thrown.ts', `${ENDS_WELL}\nthrow new Error("so")`), { failed: 1 })
  t.match(await run('code.ts', `${ENDS_WELL}\nprocess.on("exit", () => (process.exitCode = 4))`), { failed: 1 })
  t.match(await run('killed.ts', 't.pass()\nprocess.kill(process.pid, "SIGKILL")'), { failed: 1 })
  t.match(await run('nothing.ts', 'void t'), { failed: 1 }, 'nothing is asserted')
  const endless = 'process.on("SIGTERM", () => undefined)\nfor (;;) await new Promise((done) => setTimeout(done, 50))'
  t.match(await run('endless.ts', endless, 1), { failed: 1 }, 'a file that does not end')
})

t.test('lanes', async (t) => {
  const files = ['a.ts', 'b.ts', 'c.ts'].map((name) => planted(name, 't.pass()'))
  const outcomes: string[] = []
  const plan = { files, lanes: 1, environment: {}, fileSeconds: 60, seconds: Infinity }
  t.strictSame(await runAll(plan, ({ file, failed }) => outcomes.push(`${file} ${failed}`)), [], 'none is left out')
  t.strictSame(outcomes, files.map((file) => `${file} 0`), 'each once, in order')
  t.strictSame(await runAll({ ...plan, seconds: 0 }, () => t.fail('begun')), files, 'after the deadline none is begun')
})
