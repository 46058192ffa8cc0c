/**
 * Promise: no file is in no suite; a run that ends early says what it left out, and shares leave out nothing
 * together; a file that crashes, asserts nothing or does not end has failed; what is skipped says what to install; busy processes beside
 * a suite end with it.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { deepFiles, isAlone, quickFiles, shareOf, shuffled } from '../suite/files.ts'
import { runAll } from '../suite/lanes.ts'
import { installLine, lacks, lacksPython, PACKAGES, skippedIn } from '../suite/packages.ts'
import { eachRound, rounds } from '../suite/rounds.ts'
import { runFile, type Outcome } from '../suite/run_file.ts'
import { startBusy } from '../suite/stress.ts'
import { until } from '../support/until.ts'

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
  const run = async (name: string, source: string, ...seconds: number[]): Promise<Partial<Outcome>> => {
    const { passed, failed, skipped } = await runFile(planted(name, source), {}, seconds[0] ?? 60, seconds[1])
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
  t.match(await run('endless.ts', endless, 1, 0.5), { failed: 1 }, 'a file that does not end')
})

t.test('lanes', async (t) => {
  const files = ['a.ts', 'b.ts', 'c.ts'].map((name) => planted(name, 't.pass()'))
  const outcomes: string[] = []
  const plan = { files, lanes: 1, environment: {}, fileSeconds: 60, seconds: Infinity }
  t.strictSame(await runAll(plan, ({ file, failed }) => outcomes.push(`${file} ${failed}`)), [], 'none is left out')
  t.strictSame(outcomes, files.map((file) => `${file} 0`), 'each once, in order')
  t.strictSame(await runAll({ ...plan, seconds: 0 }, () => t.fail('begun')), files, 'after the deadline none is begun')
})

t.test('what is skipped says what to install, and one line does it', async (t) => {
  t.equal(lacks(['strace'], 'there is none'), 'apt-get install strace (there is none)')
  t.equal(lacksPython('websockets, nacl', 'no (such) module'), 'apt-get install python3-websockets python3-nacl (no (such) module)')
  t.throws(() => lacks(['gawk'], 'there is none'), /gawk is not in packages\.txt/, 'what CI does not install')
  const reasons = [lacks(['strace', 'haproxy'], 'a'), 'it needs root', lacks(['strace'], 'b')]
  const source = reasons.map((why, at) => `t.test("test ${at}", { skip: ${JSON.stringify(why)} }, async () => undefined)`).join('\n')
  const { lines } = await runFile(planted('lacking.ts', source), {}, 60)
  const skipped = skippedIn(lines)
  t.strictSame(skipped, reasons.map((why, at) => `test ${at} # SKIP ${why}`))
  t.equal(installLine(skipped), 'sudo apt-get install --no-install-recommends haproxy strace')
  t.equal(installLine(['test # SKIP it needs root']), null)
  t.equal(installLine([]), null)
  const ci = readFileSync(join(import.meta.dirname, '..', '..', '.ci', 'run'), 'utf8')
  t.match(ci, 'packages=$(tr \'\\n\' \' \' < test/suite/packages.txt)', 'CI installs the same')
  t.strictSame([...PACKAGES], [...new Set(PACKAGES)].sort())
})

t.test('busy processes end with the suite, however it ends', async (t) => {
  const runs = (pid: number): boolean => {
    try {
      return process.kill(pid, 0)
    } catch {
      return false
    }
  }
  const { pids, end } = startBusy(2)
  t.ok(pids.length === 2 && pids.every(runs))
  end()
  t.ok(await until(() => !pids.some(runs)), 'ended')
  const module = JSON.stringify(join(import.meta.dirname, '..', 'suite', 'stress.ts'))
  const source = `console.log(...(await import(${module})).startBusy(1).pids); setInterval(() => undefined, 1000)`
  const suite = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', '--input-type=module', '-e', source])
  const [said] = (await once(suite.stdout, 'data')) as [Buffer]
  const left = Number(said)
  t.ok(runs(left))
  suite.kill('SIGKILL')
  t.ok(await until(() => !runs(left)), 'killed')
})
