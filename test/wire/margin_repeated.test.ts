/**
 * Promise: margin that was added to a position, or taken from it, with an idempotency key is answered again byte for byte when the request
 * is repeated: at once, and after the position closed. Without a key, or with one that was not used, the position is missing then, and
 * nothing is moved.
 */
import t from 'tap'
import { IdKind, parseId } from '../../core/layout/ids.ts'
import { SESSION } from '../../core/state/columns.ts'
import { MarginMode } from '../../core/state/margin_rows.ts'
import { get, sessionRow } from '../../core/state/rows.ts'
import { marginStage } from '../support/margin_stage.ts'
import { answerNaively, createNaiveHistory } from '../support/naive_history.ts'

t.setTimeout(300_000)
const history = createNaiveHistory()
const stage = await marginStage((request) => answerNaively(history, request))
t.teardown(() => stage.harness.close())

t.test('margin added and taken', async (t) => {
  const [long, short] = [await stage.user(), await stage.user()]
  await short.order('SELL', '0.1', '60000')
  await long.order('BUY', '0.1', '60000')
  const [{ positionId: id, riskBucketId }] = (await long.get('/positions')).json.positions
  const add = (amount: string, idempotencyKey?: string) => long.post(`/positions/${id}/margin/add`, { amount, idempotencyKey })
  const reduce = (amount: string, idempotencyKey: string) => long.post(`/positions/${id}/margin/reduce`, { amount, idempotencyKey })
  const [added, taken] = [await add('400', 'one'), await reduce('100.5', 'two')]
  t.match([added.json, taken.json], [{ newIsolatedMargin: '1003' }, { newIsolatedMargin: '902.5' }])
  const repeats = async (when: string): Promise<void> => {
    t.equal((await add('400', 'one')).text, added.text, `added, ${when}`)
    t.equal((await reduce('100.5', 'two')).text, taken.text, `taken, ${when}`)
  }
  await repeats('at once')
  await short.order('BUY', '0.1', '60000')
  t.match((await long.post(`/positions/${id}/close`)).json, { matchResult: { status: 'FILLED' } })
  t.match((await add('400', 'one')).json, { code: 'POSITION_NOT_FOUND' }, 'the history never had it')
  const [position, bucket] = [parseId(IdKind.POSITION, id)!, parseId(IdKind.RISK_BUCKET, riskBucketId)!]
  const account = get(stage.harness.state, sessionRow(stage.harness.state, long.session.row), SESSION.ACCOUNT)
  history.positions.push({
    account, sequence: position.sequence, row: position.slot, index: 0, pair: stage.btc.index, lots: 0, entryLots: 1, entryCost: 1n,
    leverage: 1000,
    realized: 0n, funding: 0n, fees: 0n, allocated: 0n, mark: 1, reason: 0, version: 2, openedAt: 1, updatedAt: 2, closedAt: 2,
    bucket: { sequence: bucket.sequence, row: bucket.slot }, marginAccount: { sequence: 0, row: -1 }, mode: MarginMode.ISOLATED,
    strategyKey: '',
  })
  await repeats('after it closed')
  const before = (await long.get('/margin/risk-buckets')).json
  t.match((await add('400', 'three')).json, { statusCode: 404, code: 'POSITION_NOT_FOUND' }, 'a key of its own')
  t.match((await add('400')).json, { statusCode: 404, code: 'POSITION_NOT_FOUND' }, 'no key')
  t.match((await add('401', 'one')).json, { statusCode: 409, code: 'IDEMPOTENCY_KEY_CONFLICT' }, 'another request with its key')
  t.strictSame((await long.get('/margin/risk-buckets')).json, before, 'nothing moved')
})
