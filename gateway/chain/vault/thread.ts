/**
 * The vault thread: looks at the chains, decides by what it finds and by the shared columns, and sends commands of lane 0 through the
 * operator thread. Trading needs nothing of it; core/supervisor/vault_thread.ts starts it again when it ends, with new ports.
 */
import { performance } from 'node:perf_hooks'
import { parentPort, workerData } from 'node:worker_threads'
import { sequencedClock } from '../../../core/ring/clock.ts'
import { matcherCounters } from '../../../core/ring/counters.ts'
import { parseGenesis } from '../../../core/state/genesis.ts'
import { createOutbox } from '../../../core/state/outbox.ts'
import { attachState } from '../../../core/state/state.ts'
import type { FromThread, ToVault, VaultData } from '../../../core/threads.ts'
import { workInBackground } from '../../background.ts'
import { readBooks } from './books.ts'
import { PortCommands } from './commands.ts'
import { RelaySigner } from './relay_signer.ts'
import { rootsOf, TradeRoots } from './roots.ts'
import { createVault } from './vault.ts'

workInBackground()

/** What is under way gets this long at a stop, ms. */
const GRACE_MS = 1_000

const { config, genesis, columns, gate, counters, operator, signer: signerPort, history, gateways, url } = workerData as VaultData
const post = (message: FromThread): void => parentPort!.postMessage(message)
const state = attachState(parseGenesis(genesis), columns, createOutbox(1))
const commands = new PortCommands()
commands.take(operator)
const signer = new RelaySigner(signerPort)
const trades = new TradeRoots()
if (history !== undefined) trades.take(history)
const vault = createVault({
  config, commands, signer, url, rootsOf: rootsOf(config.dataDir, trades), time: sequencedClock(matcherCounters(counters)),
  clock: () => performance.now(),
  books: readBooks(state, new Int32Array(gate)),
  tell: (level, message, fields) => post({ type: 'log', level, message, ...(fields === undefined ? {} : { fields }) }),
})

let stopping = false
let turning: Promise<void> = Promise.resolve()
let timer: NodeJS.Timeout | undefined

async function turn(): Promise<void> {
  await vault!.turn()
  commands.report(vault!.report())
  if (!stopping) timer = setTimeout(next, config.chainPollMs)
}

function next(): void {
  clearTimeout(timer)
  turning = turn().catch((error: Error) => post({ type: 'fatal', code: 0, message: error.stack ?? error.message }))
}

async function stop(): Promise<void> {
  stopping = true
  clearTimeout(timer)
  await Promise.race([turning, new Promise((resolve) => setTimeout(resolve, GRACE_MS))])
  vault?.calldata.close()
  commands.close()
  trades.close()
  signer.close()
  post({ type: 'stopped' })
  // Transactions under way go on by themselves, on the chain.
  process.exit()
}

parentPort!.on('message', (message: ToVault) => {
  if (message.type === 'stop' || message.type === 'abort') void stop()
  else if (message.type === 'chain') vault?.move(message.url)
  else if (message.type === 'signer') signer.take(message.port)
})
if (vault === null) {
  post({ type: 'log', level: 'warn', message: 'there is no vault: the genesis has no chain of settlement, or not the embedded one' })
} else {
  for (const port of gateways) vault.calldata.serve(port)
  next()
}
post({ type: 'ready' })
