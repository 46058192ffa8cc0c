/** Parts of the script that e2e/both_transports.deep.ts plays over both transports: orders that wait, copy trading, programs. */
import { withdrawalId as withdrawalIdOf } from '../../core/layout/ids.ts'
import type { OperationName } from '../../gateway/operations/index.ts'
import { historyReached, type Exchange } from './exchange.ts'
import type { Json, Wallet } from './transports.ts'

export interface Script {
  readonly maker: Wallet
  readonly taker: Wallet
  readonly perpetual: string
  readonly exchange: Exchange
  call(name: OperationName, input?: Json, trader?: Wallet | null): Promise<Json>
}

/** Legs of a position and a TWAP order that begins in an hour: nothing of it becomes an order. */
export async function waitForPrices(script: Script, positionId: string): Promise<void> {
  const { taker, perpetual: tradingPairId } = script
  await script.call('AttachTpSl', { positionId, stopLoss: { triggerPrice: '70000', orderType: 'MARKET' } }, taker)
  const stopLoss = { triggerPrice: '60000', orderType: 'MARKET' }
  const { stopLossOrderId: conditionalOrderId } = await script.call('AttachTpSl', { positionId, stopLoss }, taker)
  const startTime = new Date(Date.now() + 3_600_000).toISOString()
  const twap = { tradingPairId, side: 'BUY', quantity: '0.01', durationSeconds: 600, startTime, tradingMode: 'MARGIN', leverage: '5' }
  const { twapOrderId } = await script.call('CreateTwapOrder', twap, taker)
  await historyReached(script.exchange)
  for (const name of ['ListConditionalOrders', 'ListTwapOrders'] as const) await script.call(name, {}, taker)
  for (const name of ['GetConditionalOrder', 'CancelConditionalOrder'] as const) await script.call(name, { conditionalOrderId }, taker)
  await historyReached(script.exchange)
  for (const name of ['GetTwapOrder', 'ListTwapSlices', 'CancelTwapOrder'] as const) await script.call(name, { twapOrderId }, taker)
}

/** A leader and one who follows him, with nothing to copy. The stop ends by itself, so nothing that is numbered may come behind it. */
export async function followLeader(script: Script): Promise<void> {
  const { maker, taker } = script
  await script.call('RegisterLeader', { handle: 'alpha' }, maker)
  await historyReached(script.exchange)
  await script.call('ListLeaders', {}, taker)
  const { followId } = await script.call('CreateFollow', { leader: 'alpha', allocation: '50' }, taker)
  await script.call('CreateFollow', { leader: 'alpha', allocation: '50' }, taker)
  await script.call('ListFollows', {}, taker)
  await script.call('UpdateFollow', { followId, status: 'CLOSE_ONLY' }, taker)
  await script.call('ListLeaderPositions', { leader: 'alpha' }, taker)
  await script.call('ListMyFollowers', { pageSize: 5 }, maker)
  for (const name of ['CloseFollowPositions', 'StopFollow'] as const) await script.call(name, { followId }, taker)
  await script.call('CloseAllFollowPositions', {}, maker)
  await script.call('ReleaseLeader', {}, maker)
}

/** Withdrawals of an exchange without a vault: none is taken, and there is none. */
async function askWithdrawals(script: Script, assetId: string): Promise<void> {
  const { maker } = script
  for (const amount of ['1', '0']) await script.call('InitiateWithdrawal', { assetId, amount, idempotencyKey: 'a withdrawal' }, maker)
  const withdrawalId = withdrawalIdOf(5, 1000)
  for (const name of ['GetWithdrawal', 'GetWithdrawalCalldata'] as const) await script.call(name, { withdrawalId }, maker)
  await script.call('ListPendingWithdrawals', { pageSize: 5 }, maker)
}

/** Programs without a part of their own. */
export async function askPrograms(script: Script, address: string): Promise<void> {
  const { maker } = script
  await script.call('GetBuildercodesConfig', { clientId: 'ringbook' })
  await script.call('SetBuilderFee', { bps: 0, makerBps: null }, maker)
  await historyReached(script.exchange)
  for (const name of ['GetReferralPosition', 'GetReferralDownline', 'GetRewardsBalance'] as const) await script.call(name, {}, maker)
  const { balances } = await script.call('ListBalances', {}, maker)
  await askWithdrawals(script, balances[0].assetId)
  await script.call('TransferRewards', { token: balances[0].token, amount: '1' }, maker)
  await script.call('TransferRewards', { token: `0x${'0'.repeat(40)}`, amount: '1' }, maker)
  await script.call('ListSweeperChains')
  const names = { email: 'a@b.example', twitterUsername: 'a', telegramUsername: 'abcde' }
  await script.call('SubmitApplication', { walletAddress: address, ...names })
  await script.call('ClaimLease', { launchId: 'launch-7', ownerId: 'process-1', expectedGeneration: '0' }, maker)
}
