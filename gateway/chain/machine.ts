/**
 * The virtual machine of the embedded chain, with a bound on time beside the bound on gas: what one gas unit costs in time differs
 * a thousandfold between instructions.
 *
 * The clock is looked at where no program can go on for long without passing: at every jump destination, every message, and at the end.
 * Nobody can look into a precompiled contract, some of which take seconds for the gas of one transaction: one that needs more than
 * {@link PRECOMPILE_GAS_MAX} is not begun, and counts as too late. When the time is up each of them ends its frame like one out of gas, so
 * that the machine unwinds in order; {@link Machine.within} then throws and undoes what was done. Time never decides about a result:
 * work that was cut short has none.
 */
import { createCustomCommon, Hardfork, Mainnet, type Common } from '@ethereumjs/common'
import { createEVM, EVMError, type EVM, type EVMMockBlockchainInterface } from '@ethereumjs/evm'
import { MerkleStateManager } from '@ethereumjs/statemanager'
import { createVM, type VM } from '@ethereumjs/vm'
import { RPC, RpcError } from './errors.ts'

/** Rules of the chain: set-code transactions (EIP-7702) since Prague, the secp256r1 precompile since Osaka. */
export const HARDFORK = Hardfork.Osaka
/** Jump destinations between two looks at the clock, a power of two; a few microseconds of work. */
const LOOK_EVERY = 256
/**
 * Most gas of one precompiled contract: half a second of the slowest, pairings and BLAKE2. Verifying needs a tenth: a proof with four
 * pairings 181,000, RSA with 4,096 bits 131,000.
 */
export const PRECOMPILE_GAS_MAX = 1_000_000n
const JUMPDEST = { opcode: 0x5b, opcodeName: 'JUMPDEST', baseFee: 1 }

export interface Machine {
  readonly common: Common
  readonly vm: VM
  readonly state: MerkleStateManager
  /**
   * Runs `work` on a layer of state of its own, which is kept when `keep` says so and undone otherwise. RpcError when it takes longer
   * than `milliseconds`. One piece of work at a time.
   */
  within<T>(milliseconds: number, work: () => Promise<T>, keep?: (result: T) => Promise<boolean>): Promise<T>
  /** A machine over the same history whose state is that of `root`; it is read only. */
  at(root: Uint8Array): Promise<Machine>
}

/** Chain parameters of mainnet with another id, as of {@link HARDFORK} from the first block on. */
export const commonOf = (chainId: number): Common => createCustomCommon({ chainId, name: 'ringbook' }, Mainnet, { hardfork: HARDFORK })

export async function createMachine(common: Common, blockchain: EVMMockBlockchainInterface, from?: MerkleStateManager): Promise<Machine> {
  const state = from ?? new MerkleStateManager({ common })
  let deadline = Infinity
  let late = false
  let passes = 0

  function look(): void {
    if (performance.now() > deadline) late = true
    if (late) throw new EVMError(EVMError.errorMessages.OUT_OF_GAS)
  }
  const jumpDestination = {
    ...JUMPDEST,
    logicFunction: () => {
      if (late || (++passes & (LOOK_EVERY - 1)) === 0) look()
    },
  }
  const evm: EVM = await createEVM({ common, stateManager: state, blockchain, customOpcodes: [jumpDestination] })
  // Before its own checkpoint: the frame that sends the message is the one that ends.
  evm.events.on('beforeMessage', (message) => {
    if (message.depth > 0) look()
  })
  for (const [address, run] of evm.precompiles) {
    evm.precompiles.set(address, async (input) => {
      if (input.gasLimit <= PRECOMPILE_GAS_MAX) return run(input)
      const result = await run({ ...input, gasLimit: PRECOMPILE_GAS_MAX })
      // The library says the same of inputs that are too long; they are not worth telling apart.
      if (result.exceptionError?.error === EVMError.errorMessages.OUT_OF_GAS) late = true
      // What else fails takes all the gas there is.
      return result.exceptionError === undefined ? result : { ...result, executionGasUsed: input.gasLimit }
    })
  }
  const vm = await createVM({ common, evm, stateManager: state, blockchain })

  return {
    common, vm, state,
    async within(milliseconds, work, keep) {
      deadline = performance.now() + milliseconds
      late = false
      let kept = false
      await state.checkpoint()
      try {
        const result = await work()
        if (late || performance.now() > deadline) throw new RpcError(RPC.SERVER, 'execution took too long')
        kept = keep === undefined ? false : await keep(result)
        return result
      } finally {
        if (kept) await state.commit()
        else await state.revert()
        evm.journal.cleanJournal()
        evm.transientStorage.clear()
        state.originalStorageCache.clear()
      }
    },
    async at(root) {
      const copy = state.shallowCopy() as MerkleStateManager
      await copy.setStateRoot(root)
      return createMachine(common, blockchain, copy)
    },
  }
}
