/**
 * Promise: what copy trading switched off refuses and what it does not, the same over REST and gRPC: nobody registers, follows or makes a
 * follow copy more (403 COPY_TRADING_OFF); a follow says why it was left out; smaller follows, closes of copies and stops are taken.
 */
import t from 'tap'
import { CommandType } from '../../core/layout/command.ts'
import { SET_COPY_PROGRAM_COMMAND } from '../../core/layout/copying.ts'
import type { Json } from '../support/transports.ts'
import { eventually, must, waitingGateway } from '../support/waiting_gateway.ts'

t.setTimeout(120_000)
const gateway = await waitingGateway()
t.teardown(() => gateway.close())
const { rest, perp, trader, order, price } = gateway
const turn = (on: number): Promise<unknown> =>
  gateway.harness.operate(CommandType.SET_COPY_PROGRAM, SET_COPY_PROGRAM_COMMAND, { session: -1, on })

for (const [way, by] of Object.entries(gateway.transports)) {
  t.test(`${way}: what is refused while it is off, and what is not`, async (t) => {
    const [leader, follower, other, maker] = [await trader(), await trader(), await trader(), await trader()]
    const handle = `off-${way}`
    must(await by('RegisterLeader', { handle }, leader))
    await price(60_000)
    must(await rest('CreateOrder', order('BUY', '0.4', '59990'), maker))
    must(await rest('CreateOrder', order('SELL', '0.4', '60010'), maker))
    const id = String(must(await by('CreateFollow', { leader: handle, allocation: '4000' }, follower))['followId'])
    const trades = async (side: string, quantity: string): Promise<Json> => must(await rest('CreateOrder', {
      tradingPairId: perp.id, tradingMode: 'MARGIN', orderType: 'MARKET', side, quantity, leverage: '10',
    }, leader))
    const follow = async (): Promise<Json> => must(await by('ListFollows', {}, follower))['follows'][0] as Json
    await trades('BUY', '0.1')
    t.ok(await eventually(async () => (await follow())['ordersCopied'] === 1))
    await turn(0)
    const off = { refused: 'COPY_TRADING_OFF' }
    t.match(await by('RegisterLeader', { handle: `${handle}-2` }, other), off)
    t.match(await by('CreateFollow', { leader: handle, allocation: '100' }, other), off)
    t.match(await by('UpdateFollow', { followId: id, allocation: '4001' }, follower), off)
    await trades('BUY', '0.1')
    t.ok(await eventually(async () => (await follow())['skips'] === 1), 'it is left out')
    t.match(await follow(), { status: 'ACTIVE', ordersCopied: 1, lastSkip: { reason: 'COPY_TRADING_OFF', tradingPairId: perp.id } })
    t.match(must(await by('UpdateFollow', { followId: id, allocation: '3000', status: 'CLOSE_ONLY' }, follower)), { allocation: '3000' })
    t.match(await by('UpdateFollow', { followId: id, status: 'ACTIVE' }, follower), off)
    t.same(must(await by('CloseAllFollowPositions', {}, follower))['follows'], [
      { followId: id, closeOrdersPlaced: 1, positionsNotClosed: 0 },
    ])
    t.match(must(await by('StopFollow', { followId: id }, follower)), { status: /STOPP/ })
    t.ok(await eventually(async () => must(await by('ListFollows', {}, follower))['follows'].length === 0), 'it is over')
    t.same(must(await by('ReleaseLeader', {}, leader)), { released: true })
    await turn(1)
    must(await by('RegisterLeader', { handle }, leader))
  })
}
