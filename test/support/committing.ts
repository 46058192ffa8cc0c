/**
 * A program: the matcher (support/real_start.ts) and one trader in one thread, for calls of the system that fail at a point. It recovers
 * what the directory has, then places orders one by one until one throws. What a gateway would have been told it writes to standard output
 * at once: `answered LABEL`; at last `ended`, or `code` and `stopped` with the error. Exit code: 0, or as the exchange's
 * (core/sequencer/matcher.ts). It is announced first, because LMDB's clean-up after a failed commit may abort.
 */
import { writeSync } from 'node:fs'
import { CLIENT_ORDER_ID_SHIFT, CommandType } from '../../core/layout/command.ts'
import { lmdbFault } from '../../core/journal/file.ts'
import { exitCode } from '../../core/sequencer/matcher.ts'
import { answersOf, openAccount, postCommand } from './journal.ts'
import { realStart } from './real_start.ts'

const [dataDir, orders, round] = process.argv.slice(2) as [string, string, string]
const say = (line: string): unknown => writeSync(1, `${line}\n`)

try {
  const matcher = realStart(dataDir)
  const trader = openAccount(matcher, 1, `trader-${round}`)
  for (let number = 0; number < Number(orders); number++) {
    const text = `r${round}-order-${number}.`
    const label = Buffer.from(text).toString('hex').padEnd(80, '0')
    const flags = text.length * 2 ** CLIENT_ORDER_ID_SHIFT
    postCommand(matcher, 1, CommandType.PLACE_ORDER, { ...trader, correlation: number, pair: 0, flags, price: 100, lots: 100, label })
    matcher.turn()
    for (const { code } of answersOf(matcher, 1)) say(code === 0 ? `answered ${text}` : `refused ${text} ${code}`)
  }
  await matcher.database.close()
  say('ended')
} catch (thrown) {
  const error = lmdbFault(thrown)
  const code = exitCode(error)
  say(`code ${code}`)
  say(`stopped ${(error as Error).name}: ${(error as Error).message}`)
  process.exit(code)
}
