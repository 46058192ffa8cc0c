/**
 * The operator thread's side of the vault thread: sends its commands, which are of the few types that are its own, through lane 0, and
 * keeps its last report for metrics and routes. A port comes with each start of the vault thread.
 */
import type { MessagePort } from 'node:worker_threads'
import { COMMAND_LAYOUTS, CommandType } from '../../core/layout/command.ts'
import type { Decoded } from '../../core/layout/table.ts'
import { WithdrawalStop } from '../../core/layout/vault.ts'
import { BATCH_MAX, VAULT_COMMANDS, type ToVaultDesk, type VaultAnswer, type VaultAsk, type VaultReport } from '../chain/vault/messages.ts'
import type { LaneAdmin, Sent } from './admin.ts'

export interface VaultDesk {
  /** What the vault thread said last; `null`: nothing yet, or there is none. */
  readonly report: VaultReport | null
  take(port: MessagePort): void
  stop(): void
}

/** What is the operator's alone. */
const isOperators = (type: number, values: Decoded): boolean =>
  (type === CommandType.ADVANCE_CHAIN && (values['rewind'] ?? 0) !== 0) ||
  (type === CommandType.STOP_WITHDRAWALS && values['cause'] !== WithdrawalStop.SOLVENCY)

type Sends = Pick<LaneAdmin, 'sendAll'>

/** What is not of the vault thread is refused as if there were no room. */
async function sendAll(admin: Sends, { commandType, values }: VaultAsk): Promise<Sent[]> {
  const layout = COMMAND_LAYOUTS[commandType]
  const own = VAULT_COMMANDS.has(commandType) && values.length <= BATCH_MAX && !values.some((each) => isOperators(commandType, each))
  return layout !== undefined && own ? admin.sendAll(commandType, layout, values) : values.map(() => 'full')
}

export function createVaultDesk(admin: Sends): VaultDesk {
  let report: VaultReport | null = null
  let current: MessagePort | null = null
  return {
    get report() {
      return report
    },
    take(port) {
      current?.close()
      current = port
      port.on('message', async (message: ToVaultDesk) => {
        if ('report' in message) {
          report = message.report
          return
        }
        port.postMessage({ id: message.id, results: await sendAll(admin, message) } satisfies VaultAnswer)
      })
    },
    stop() {
      current?.close()
      current = null
    },
  }
}
