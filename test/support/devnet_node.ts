/**
 * The embedded chain behind its JSON-RPC in this process, for tests of what asks a node: its time is the test's, and it may be taken
 * back.
 */
import { once } from 'node:events'
import { mkdtempSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Test } from 'tap'
import type { PrivateKeyAccount } from 'viem/accounts'
import { chainRules, openDevnet, type Devnet } from '../../gateway/chain/devnet.ts'
import { RpcError } from '../../gateway/chain/errors.ts'
import { prepareChain } from '../../gateway/chain/prepare.ts'
import { createRpcServer } from '../../gateway/chain/rpc_server.ts'
import { decodeSetCode } from '../../gateway/chain/set_code.ts'
import { chainPath, openChainStore } from '../../gateway/chain/store.ts'
import { toBytes } from '../../gateway/chain/values.ts'
import { oneByOne } from '../../gateway/one_by_one.ts'
import type { Genesis } from '../../core/state/genesis.ts'
import { removeDirectory } from './exchange.ts'

export interface DevnetNode {
  readonly url: string
  readonly directory: string
  readonly devnet: Devnet
  /** Unix seconds, of the next block. */
  time: number
  /** A block with an empty transaction of this wallet. */
  mine(wallet: PrivateKeyAccount): Promise<void>
  /**
   * The newest blocks are taken back, as many as `depth` says when it is asked with the head. What `order` makes of their transactions
   * comes again in blocks of their own, as far as it can: a nonce ahead of its turn waits for the others. How many came again.
   */
  reorganise(depth: (head: number) => number, order: (transactions: readonly Uint8Array[]) => readonly Uint8Array[]): Promise<number>
}

/** A chain of this genesis, prepared for its vault; it ends with the test. */
export async function startDevnet(t: Test, genesis: Pick<Genesis, 'chainId' | 'sweeperChains'>): Promise<DevnetNode> {
  const directory = mkdtempSync(join(tmpdir(), 'ringbook-devnet-'))
  const store = openChainStore(chainPath(directory), genesis.chainId, chainRules)
  const clock = { time: Math.floor(Date.now() / 1000) }
  const devnet = await openDevnet(genesis.chainId, store, () => clock.time)
  await prepareChain(devnet, genesis)
  const errors: Error[] = []
  const inTurn = oneByOne()
  const server = createRpcServer(Promise.resolve(devnet), (error) => errors.push(error), inTurn)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
    store.close()
    removeDirectory(directory)
    if (errors.length > 0) throw errors[0]!
  })
  const mine = (wallet: PrivateKeyAccount): Promise<void> => inTurn(async () => {
    const nonce = Number((await devnet.account(wallet.address, devnet.find('latest')!)).nonce)
    const raw = await wallet.signTransaction({
      type: 'legacy', chainId: genesis.chainId, nonce, to: wallet.address, gas: 21_000n, gasPrice: 0n,
    })
    await devnet.send(toBytes(raw))
  })
  const reorganise: DevnetNode['reorganise'] = (depth, order) => inTurn(async () => {
    const head = devnet.blocks.length - 1
    const to = head - depth(head)
    const taken = [...store.blocks()].filter(({ number }) => number > to).map(({ raw }) => Uint8Array.from(raw))
    if (taken.some((raw) => decodeSetCode(raw) !== null)) throw new Error('the chain would lose code that nobody sends again')
    await devnet.rewind(to)
    return sendAll(devnet, order(taken))
  })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return Object.assign(clock, { url, directory, devnet, mine, reorganise })
}

/** Sends them again and again until none of the rest is taken: how many were. */
async function sendAll(devnet: Devnet, transactions: readonly Uint8Array[]): Promise<number> {
  let left = transactions
  for (;;) {
    const refused: Uint8Array[] = []
    for (const raw of left) {
      await devnet.send(raw).catch((error: Error) => {
        if (!(error instanceof RpcError)) throw error
        refused.push(raw)
      })
    }
    if (refused.length === left.length || refused.length === 0) return transactions.length - refused.length
    left = refused
  }
}
