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
import { chainRules, openDevnet, type Devnet } from '../../gateway/chain/devnet.ts'
import { prepareChain } from '../../gateway/chain/prepare.ts'
import { createRpcServer } from '../../gateway/chain/rpc_server.ts'
import { chainPath, openChainStore } from '../../gateway/chain/store.ts'
import type { Genesis } from '../../core/state/genesis.ts'
import { removeDirectory } from './exchange.ts'

export interface DevnetNode {
  readonly url: string
  readonly directory: string
  readonly devnet: Devnet
  /** Unix seconds, of the next block. */
  time: number
}

/** A chain of this genesis, prepared for its vault; it ends with the test. */
export async function startDevnet(t: Test, genesis: Pick<Genesis, 'chainId' | 'sweeperChains'>): Promise<DevnetNode> {
  const directory = mkdtempSync(join(tmpdir(), 'ringbook-devnet-'))
  const store = openChainStore(chainPath(directory), genesis.chainId, chainRules)
  const clock = { time: Math.floor(Date.now() / 1000) }
  const devnet = await openDevnet(genesis.chainId, store, () => clock.time)
  await prepareChain(devnet, genesis)
  const errors: Error[] = []
  const server = createRpcServer(Promise.resolve(devnet), (error) => errors.push(error))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
    store.close()
    removeDirectory(directory)
    if (errors.length > 0) throw errors[0]!
  })
  return Object.assign(clock, { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, directory, devnet })
}
