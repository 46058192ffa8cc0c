/**
 * Promise: two processes never run on one data directory. Not when both start at once, not when the lock file cannot be written, is removed
 * or replaced, or the directory is; and not in another network namespace. Reading tools work beside a running exchange.
 */
import { execFileSync } from 'node:child_process'
import { chmodSync, chownSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { EXIT } from '../../core/threads.ts'
import { verify } from '../../core/replay/verify.ts'
import {
  AS_NOBODY, removeDirectory, startExchange, StartFailed, temporaryDirectory, type Exchange,
} from '../support/exchange.ts'
import { newTrader } from '../support/traders.ts'

t.setTimeout(900_000)
const FLAGS = ['--gateways', '1', '--grpc-thread', '0', '--chain', '0']
const STARTS = 8
const NOBODY = 65_534

const begin = (directory: string, before: readonly string[] = []): Promise<Exchange> =>
  startExchange(directory, FLAGS, {}, before)

/** Expects the start to fail with this code and words. */
async function refused(t: Test, start: Promise<Exchange>, code: number, words: RegExp): Promise<void> {
  const failed = await start.then(
    (exchange) => exchange.kill().then(() => null),
    (error: unknown) => error as StartFailed,
  )
  t.ok(failed instanceof StartFailed, 'it was refused')
  t.equal(failed?.code, code)
  t.match(failed?.log.at(-1), { level: 'fatal', code, msg: words })
}

/** A directory of its own, and an exchange on it. */
async function running(t: Test): Promise<{ directory: string; exchange: Exchange }> {
  const directory = temporaryDirectory()
  t.teardown(() => removeDirectory(directory))
  const exchange = await begin(directory)
  t.teardown(() => exchange.kill())
  return { directory, exchange }
}

t.test(`${STARTS} starts at once: exactly one runs`, async (t) => {
  const directory = temporaryDirectory()
  t.teardown(() => removeDirectory(directory))
  const starts = await Promise.allSettled(Array.from({ length: STARTS }, () => begin(directory)))
  const up = starts.flatMap((start) => (start.status === 'fulfilled' ? [start.value] : []))
  t.teardown(() => Promise.all(up.map((exchange) => exchange.kill())))
  const codes = starts.flatMap((start) => (start.status === 'rejected' ? [(start.reason as StartFailed).code] : []))
  t.equal(up.length, 1, 'one runs')
  t.strictSame(codes, Array.from({ length: STARTS - 1 }, () => EXIT.LOCKED), 'the others say that the directory is in use')
  const [exchange] = up as [Exchange]
  await refused(t, begin(directory), EXIT.LOCKED, new RegExp(`another process uses .*process ${exchange.pid}, since 20`))
  await newTrader(exchange.baseUrl, 1)
  t.ok(verify(directory, () => undefined).commands > 1, 'the journal can be verified meanwhile')
})

t.test('a lock file that cannot be written is no lock', async (t) => {
  const directory = temporaryDirectory()
  t.teardown(() => removeDirectory(directory))
  t.equal(await (await begin(directory)).stop(), EXIT.OK)
  if (AS_NOBODY.length > 0) {
    chownSync(directory, NOBODY, NOBODY)
    for (const name of readdirSync(directory, { recursive: true }) as string[]) chownSync(join(directory, name), NOBODY, NOBODY)
  }
  const own = await begin(directory, AS_NOBODY)
  t.teardown(() => own.kill())
  t.equal(await own.stop(), EXIT.OK, 'its own file is one')
  chmodSync(join(directory, 'lock.sqlite'), 0o444)
  await refused(t, begin(directory, AS_NOBODY), EXIT.CONFIG, /lock\.sqlite cannot be used \(SQLITE_READONLY.*give it.* to the user/)
  writeFileSync(join(directory, 'lock.sqlite'), 'x'.repeat(5000))
  await refused(t, begin(directory), EXIT.CONFIG, /lock\.sqlite cannot be used \(SQLITE_NOTADB.*remove it while no exchange runs/)
})

const GONE = /was removed or replaced while the exchange ran on it; .*start again/
t.test('the lock file is removed: nobody else starts, and the one that runs stops', async (t) => {
  const { directory, exchange } = await running(t)
  // It cannot notice while it is stopped: the other lock holds until then, and the second does not even come to the file.
  process.kill(exchange.pid, 'SIGSTOP')
  rmSync(join(directory, 'lock.sqlite'))
  await refused(t, begin(directory), EXIT.LOCKED, /another process uses .*it does not say which/)
  process.kill(exchange.pid, 'SIGCONT')
  t.equal(await exchange.ended, EXIT.LOCKED)
  t.match(exchange.log.at(-1), { level: 'fatal', code: EXIT.LOCKED, msg: GONE })
  const next = await begin(directory)
  t.teardown(() => next.kill())
  t.equal(await next.stop(), EXIT.OK)
})

t.test('the lock file or the directory is replaced: the one that runs stops', async (t) => {
  const file = await running(t)
  writeFileSync(join(file.directory, 'other'), '')
  renameSync(join(file.directory, 'other'), join(file.directory, 'lock.sqlite'))
  const directory = await running(t)
  const aside = `${directory.directory}-aside`
  t.teardown(() => removeDirectory(aside))
  renameSync(directory.directory, aside)
  mkdirSync(directory.directory)
  for (const { exchange } of [file, directory]) {
    t.equal(await exchange.ended, EXIT.LOCKED)
    t.match(exchange.log.at(-1), { level: 'fatal', code: EXIT.LOCKED, msg: GONE })
  }
})

/** Whether a process may have a network of its own here. */
function mayUnshare(): boolean {
  try {
    execFileSync('unshare', ['-n', 'true'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}
const namespaces = mayUnshare() ? false : 'it needs root, for a network namespace of its own'
t.test('a start in another network namespace', { skip: namespaces }, async (t) => {
  const { directory } = await running(t)
  await refused(t, begin(directory, ['unshare', '-n']), EXIT.LOCKED, /another process uses/)
})
