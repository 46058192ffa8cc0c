/**
 * Promise: a sub-account that was linked before consent was asked for is listed without its balances until its wallet agrees, over REST and
 * gRPC.
 */
import t from 'tap'
import { IdKind, parseId } from '../../core/layout/ids.ts'
import { PROFILE } from '../../core/state/columns.ts'
import { profileRow, set } from '../../core/state/rows.ts'
import { call, makeSubAccount, startHarness, testGenesis } from '../support/gateway_harness.ts'
import { connectGrpc } from '../support/grpc.ts'
import { grpcTransport } from '../support/transports.ts'

const harness = await startHarness(['--gateways', '1', '--grpc-thread', '1'], testGenesis())
const client = connectGrpc(harness.grpcPort)
t.teardown(async () => {
  client.close()
  await harness.close()
})

t.test('balances are told from the moment on at which the wallet agreed', async (t) => {
  const master = await harness.openSession()
  const id = await makeSubAccount(harness, master, `0x${'5b'.repeat(20)}`)
  const profile = profileRow(harness.state, parseId(IdKind.USER, id)!.slot)
  const listed = async (): Promise<{ consented: boolean; told: number }[]> => {
    const path = '/api/v1/accounts/sub-accounts'
    const said = [(await call(harness, master, 'GET', path)).json, await grpcTransport(client)('ListSubAccounts', {}, master)]
    return said.map(({ subAccounts: [only] }) => ({ consented: only.consented, told: only.balances.length }))
  }
  set(harness.state, profile, PROFILE.CONSENTED, 0)
  t.same(await listed(), Array(2).fill({ consented: false, told: 0 }))
  set(harness.state, profile, PROFILE.CONSENTED, 1)
  t.same(await listed(), Array(2).fill({ consented: true, told: harness.genesis.assets.length }))
})
