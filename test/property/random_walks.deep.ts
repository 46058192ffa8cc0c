/**
 * Promise: what holds for one seed holds for others. The quick tests that draw a seed of their own are run over and over,
 * each time with the next seed; the commands of applications and of fees are many more. A failure prints the whole output
 * of the file and how to have it again.
 */
import t from 'tap'
import { eachRound, seedOf } from '../suite/rounds.ts'
import { runFile } from '../suite/run_file.ts'

const SEED = seedOf()
const ROUNDS = { short: 1, deep: 40 }
const FILE_SECONDS = 600
const WALKS = [
  'crash/free_list', 'crash/journal_end', 'crash/snapshot_damage', 'property/applications_equal_naive', 'property/book_window',
  'property/fee_simulation', 'property/history_market', 'property/history_resume', 'property/market_streams', 'unit/client_book',
  'unit/decimal', 'unit/grpc_mapping', 'unit/history_pages', 'unit/ids', 'unit/journal_frame', 'unit/json_shape', 'unit/layout',
  'unit/page_token', 'unit/rate_windows', 'unit/record_checks',
  'unit/ring_broadcast', 'unit/ring_spsc', 'unit/ring_wait', 'unit/supervisor_lines', 'unit/closed_orders',
]
t.setTimeout(0)
t.comment(`seed ${SEED}; again: npm run test:deep -- test/property/random_walks.deep.ts --seed ${SEED}`)

for (const round of eachRound(t, ROUNDS)) {
  const seed = SEED + round
  for (const walk of WALKS) {
    const environment = { SEED: String(seed), COMMANDS: '60000', SUITE: '', ROUNDS: '' }
    const { passed, failed, lines } = await runFile(`test/${walk}.test.ts`, environment, FILE_SECONDS)
    const again = `SEED=${seed} npm test -- test/${walk}.test.ts`
    t.equal(failed, 0, `${passed} passed; again: ${again}${failed > 0 ? `\n${lines.join('\n')}` : ''}`)
  }
}
