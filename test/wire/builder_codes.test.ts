/**
 * Promise: builder codes over the wire, the same over REST and gRPC: what an application charges is public, its payout wallet alone changes
 * it, every refusal of the specification by its name, and users see what an order would cost them with it, and apart from the fee.
 */
import t from 'tap'
import { ENROLL_APPLICATION_COMMAND, SET_BUILDER_PROGRAM_COMMAND } from '../../core/layout/builder.ts'
import { CommandType } from '../../core/layout/command.ts'
import { RESULT } from '../../core/layout/event.ts'
import { IdKind, parseId } from '../../core/layout/ids.ts'
import type { Decoded, Layout } from '../../core/layout/table.ts'
import { delegate, startHarness, type Session } from '../support/gateway_harness.ts'
import { connectGrpc } from '../support/grpc.ts'
import { grpcTransport, restTransport, type Json, type Transport } from '../support/transports.ts'

const harness = await startHarness(['--grpc-thread', '1'])
const client = connectGrpc(harness.grpcPort)
t.teardown(async () => {
  client.close()
  await harness.close()
})
const rest = restTransport(harness.port)
const TRANSPORTS: Readonly<Record<string, Transport>> = { REST: rest, gRPC: grpcTransport(client) }
const [{ id: tradingPairId }] = harness.genesis.pairs as unknown as [{ id: string }]

async function operate<L extends Layout>(type: CommandType, layout: L, values: Decoded): Promise<void> {
  const said = await harness.operate(type, layout, { session: -1, ...values })
  if (said[RESULT.at.code] !== 0) throw new Error(`${layout.name}: ${said[RESULT.at.code]}`)
}
const setProgram = (capBps: number, on: boolean): Promise<void> =>
  operate(CommandType.SET_BUILDER_PROGRAM, SET_BUILDER_PROGRAM_COMMAND, { capBps, builderFees: on ? 1 : 0, revenueSharePpm: 0 })

/** Its payout wallet is who holds the session; it adds nothing. */
async function enroll(application: number, payout: Session, active = 1): Promise<void> {
  const id = parseId(IdKind.USER, (await rest('GetProfile', {}, payout) as Json)['id'])!
  const values = { application, account: id.slot, createdSequence: id.sequence, active, bps: 0, makerBps: 0 }
  await operate(CommandType.ENROLL_APPLICATION, ENROLL_APPLICATION_COMMAND, values)
}

for (const [application, [way, call]] of Object.entries(TRANSPORTS).entries()) {
  const { clientId } = harness.genesis.applications[application]!
  t.test(`${way}: who may change it, how often, and what is said`, async (t) => {
    const [payout, other] = [await harness.openSession(application), await harness.openSession(application)]
    const set = (by: Session, input: Json): Promise<Json> => call('SetBuilderFee', input, by) as Promise<Json>
    await setProgram(50, true)
    await enroll(application, payout, 0)
    t.match(await set(payout, { bps: 1 }), { refused: 'NOT_ENROLLED' })
    await enroll(application, payout)
    t.match(await set(other, { bps: 1 }), { refused: 'NOT_PAYOUT_WALLET' })
    const agent = await delegate(harness, await harness.openSession())
    t.match(await set(agent.session, { bps: 1 }), { refused: 'AGENT_NOT_ALLOWED' })
    t.match(await set(payout, { bps: 51 }), { refused: 'BUILDER_FEE_ABOVE_CAP', details: { limit: 50 } })
    t.match(await set(payout, { bps: 1, makerBps: 51 }), { refused: 'BUILDER_FEE_ABOVE_CAP' })
    await setProgram(50, false)
    t.match(await set(payout, { bps: 1 }), { refused: 'BUILDER_FEES_OFF' })
    await setProgram(50, true)

    const first = await set(payout, { bps: 20, makerBps: 10 })
    t.match(first, {
      builderFeeBps: 20, previousBuilderFeeBps: 0, changesRemaining: 1, builderMakerFeeBps: 10, previousBuilderMakerFeeBps: 0,
    })
    t.equal(first['nextChangeAllowedAt'] ?? null, null, 'there is a change left')
    t.match(await set(payout, { bps: 20 }), { changesRemaining: 1, builderMakerFeeBps: 10 }, 'as it is: no change')
    const last = await set(payout, { bps: 25 })
    t.match(last, { changesRemaining: 0, previousBuilderFeeBps: 20, builderMakerFeeBps: 10 })
    const late = await set(payout, { bps: 26 })
    t.match(late, { refused: 'NO_FEE_CHANGES_LEFT', details: { nextChangeAllowedAt: last['nextChangeAllowedAt'] } })
    t.match(await set(payout, { bps: 25 }), { changesRemaining: 0 }, 'as it is: done, though no change is left')

    const { address } = await rest('GetProfile', {}, payout) as Json
    t.match(await call('GetBuildercodesConfig', { clientId }, null), {
      builderFeeCapBps: 50, builderFeeEnabled: true, revenueShareEnabled: false, revenueShare: '0',
      application: { clientId, enrolled: true, payoutAddress: address, builderFeeBps: 25, builderMakerFeeBps: 10 },
    })
    t.match(await call('GetBuildercodesConfig', {}, null), { application: null })
    t.match(await call('GetBuildercodesConfig', { clientId: 'nobody' }, null), { refused: 'NOT_FOUND' })
    const order = { tradingPairId, side: 'BUY', orderType: 'LIMIT', quantity: '1', price: '1000' }
    t.match(await call('SimulateFees', order, other), { applicationTakerFeeBps: '25', applicationMakerFeeBps: '10', applicationFee: '1' })
    await enroll(application, payout, 0)
  })
}

t.test('what is no field is refused by name, and what is missing', async (t) => {
  const payout = await harness.openSession()
  t.match(await rest('SetBuilderFee', { makerBps: 1 }, payout), { refused: 'VALIDATION_ERROR', details: { field: 'bps' } })
  t.match(await rest('SetBuilderFee', { bps: 1, cap: 5 }, payout), { refused: 'VALIDATION_ERROR', details: { field: 'cap' } })
})
