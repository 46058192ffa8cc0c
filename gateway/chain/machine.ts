/**
 * The virtual machine of the embedded chain, with a bound on time beside the bound on gas: what one gas unit costs in time differs
 * a thousandfold between instructions.
 *
 * The clock is looked at where no program can go on for long without passing: at every jump destination, every message, and at the end.
 * Nobody can look into a precompiled contract, some of which take seconds for the gas of one transaction: one that needs more than
 * {@link precompileGasMax} is not begun, and counts as too late. When the time is up each of them ends its frame like one out of gas, so
 * that the machine unwinds in order; {@link Machine.within} then throws and undoes what was done. Time never decides about a result:
 * work that was cut short has none.
 */
import { createCustomCommon, Hardfork, Mainnet, type Common } from '@ethereumjs/common'
import { createEVM, EVMError, type EVM, type EVMMockBlockchainInterface, type ExecResult } from '@ethereumjs/evm'
import { MerklePatriciaTrie } from '@ethereumjs/mpt'
import { MerkleStateManager } from '@ethereumjs/statemanager'
import { MapDB } from '@ethereumjs/util'
import { createVM, type VM } from '@ethereumjs/vm'
import { RPC, RpcError } from './errors.ts'
import { Nodes } from './nodes.ts'

/** Rules of the chain: set-code transactions (EIP-7702) since Prague, the secp256r1 precompile since Osaka. */
export const HARDFORK = Hardfork.Osaka
/** Jump destinations between two looks at the clock, a power of two; a few microseconds of work. */
const LOOK_EVERY = 256
/** Most gas of one precompiled contract. Verifying needs a part: a proof with four pairings 181,000, RSA with 4,096 bits 131,000. */
export const PRECOMPILE_GAS_MAX = 1_000_000n
/**
 * Less of those by address that take longer for their gas, so that none takes more than a quarter of a second where it was
 * measured (ms for a million gas, two cores shared with others): BLAKE2 774, sums of multiples on BLS12-381 727 (G1) and 430 (G2),
 * its pairings 465; those of alt_bn128 take 268, powers, hashes and copies 114 at most, all others have one price for a few ms.
 */
const SLOW: ReadonlyMap<number, bigint> = new Map([[9, 300_000n], [0x0c, 300_000n], [0x0e, 500_000n], [0x0f, 500_000n]])
/** Most gas of the precompiled contract at this address. */
export const precompileGasMax = (address: number): bigint => SLOW.get(address) ?? PRECOMPILE_GAS_MAX
const JUMPDEST = { opcode: 0x5b, opcodeName: 'JUMPDEST', baseFee: 1 }

export interface Machine {
  readonly common: Common
  readonly vm: VM
  readonly state: MerkleStateManager
  readonly nodes: Nodes
  /**
   * Runs `work` on a layer of state of its own, which is kept when `keep` says so and undone otherwise. RpcError when it takes longer
   * than `milliseconds`. One piece of work at a time. `before`: it was accepted by an earlier version, which let precompiled
   * contracts work longer.
   */
  within<T>(milliseconds: number, work: () => Promise<T>, keep?: (result: T) => Promise<boolean>, before?: boolean): Promise<T>
  /** A machine over the same history whose state is that of `root`; it is read only. */
  at(root: Uint8Array): Promise<Machine>
}

/** Chain parameters of mainnet with another id, as of {@link HARDFORK} from the first block on. */
export const commonOf = (chainId: number): Common => createCustomCommon({ chainId, name: 'ringbook' }, Mainnet, { hardfork: HARDFORK })

function emptyState(common: Common, nodes: Nodes): MerkleStateManager {
  const trie = new MerklePatriciaTrie({ useKeyHashing: true, common, db: new MapDB<string, string>(nodes) })
  return new MerkleStateManager({ common, trie })
}

/** Of blobs, which this chain does not have: the library has no code for it, and would end the call with an error of its own. */
const POINT_EVALUATION = 0x0a
const failed = (gas: bigint): ExecResult =>
  ({ returnValue: new Uint8Array(), executionGasUsed: gas, exceptionError: new EVMError(EVMError.errorMessages.INVALID_PROOF) })

export async function createMachine(
  common: Common, blockchain: EVMMockBlockchainInterface, nodes = new Nodes(), state = emptyState(common, nodes),
): Promise<Machine> {
  let deadline = Infinity
  let asBefore = false
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
  for (const [hex, run] of evm.precompiles) {
    const address = Number(`0x${hex}`)
    evm.precompiles.set(hex, async (input) => {
      if (address === POINT_EVALUATION) return failed(input.gasLimit)
      const most = asBefore ? PRECOMPILE_GAS_MAX : precompileGasMax(address)
      if (input.gasLimit <= most) return run(input)
      const result = await run({ ...input, gasLimit: most })
      // The library says the same of inputs that are too long; they are not worth telling apart.
      if (result.exceptionError?.error === EVMError.errorMessages.OUT_OF_GAS) late = true
      // What else fails takes all the gas there is.
      return result.exceptionError === undefined ? result : { ...result, executionGasUsed: input.gasLimit }
    })
  }
  const vm = await createVM({ common, evm, stateManager: state, blockchain })

  return {
    common, vm, state, nodes,
    async within(milliseconds, work, keep, before = false) {
      deadline = performance.now() + milliseconds
      asBefore = before
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
        else {
          await state.revert()
          nodes.undo()
        }
        evm.journal.cleanJournal()
        evm.transientStorage.clear()
        state.originalStorageCache.clear()
      }
    },
    async at(root) {
      const copy = state.shallowCopy() as MerkleStateManager
      await copy.setStateRoot(root)
      return createMachine(common, blockchain, nodes, copy)
    },
  }
}
