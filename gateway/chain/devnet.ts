/**
 * The embedded chain: one node, one block per transaction, no fees and no balances, so that anybody may deploy and call contracts
 * without funds. It is there for contract wallets, to develop against and to run the exchange without an outside node; no value is
 * on it and the exchange's money does not depend on it.
 *
 * - A transaction is executed when it arrives and is in a block, and in the store, before its hash is answered. Nothing waits: a nonce
 *   ahead of its turn is refused.
 * - Block time is the clock's, in whole seconds, never before the parent's: two blocks may have the same. It stands in the store,
 *   so that executing the stored transactions again gives equal blocks.
 * - Calls see the state of their block and, at the newest, the number and time of the block that would come next.
 * - Every state is kept, in memory and in the store. {@link BLOCKS_MAX}, {@link STORED_BYTES_MAX} and
 *   {@link KEPT_BYTES_MAX} bound that.
 * - A start reads the states back (store.ts) and executes only blocks of which none was kept.
 * - Code is put at addresses without a transaction by the chain's own process alone (set_code.ts).
 * - Blob transactions, proposals of other nodes, withdrawals and requests of the consensus layer do not exist here.
 *
 * One piece of work at a time: callers wait for each other (methods.ts). The header's beacon fields are those of an empty chain.
 */
import { createBlock, type Block } from '@ethereumjs/block'
import type { EVMResult } from '@ethereumjs/evm'
import {
  Capability, createTx, createTxFromRLP, TransactionType, type FeeMarketEIP1559TxData, type TypedTransaction, type TypedTxData,
} from '@ethereumjs/tx'
import { createAddressFromString, type Address } from '@ethereumjs/util'
import { encodeReceipt, runTx, type PostByzantiumTxReceipt, type RunTxResult } from '@ethereumjs/vm'
import { keccak_256 } from '@noble/hashes/sha3.js'
import { toRlp } from 'viem/utils'
import { RPC, RpcError } from './errors.ts'
import { commonOf, createMachine, HARDFORK, type Machine } from './machine.ts'
import { doneRecord, headerRecord, type Mined } from './records.ts'
import { decodeSetCode, encodeSetCode, putCode, type SetCode } from './set_code.ts'
import { ChainDamaged, type ChainStore, type Kept, type StoredBlock } from './store.ts'
import { BLOCKS_MAX, toBytes, toHex, type BlockReference, type Hex } from './values.ts'

export const BLOCK_GAS_LIMIT = 30_000_000n
/** Most gas of one transaction (EIP-7825), and of one call. */
export const TRANSACTION_GAS_LIMIT = 16_777_216n
/** Bytes of transactions kept at most; a full chain refuses more. */
const STORED_BYTES_MAX = 128 << 20
/** Bytes of all that is kept of blocks, which a start reads. */
export const KEPT_BYTES_MAX = 512 << 20
/** Time one transaction may take when it arrives, ms; what takes longer is not kept. */
const TRANSACTION_MS = 2_000
/** The same of a stored one at a start, when the machine may be busy. The chain is refused when one takes longer. */
const STORED_MS = 10_000
/** Time that all transactions of the chain may have taken: about as long as executing them again would take, ms. */
export const WORK_MS_MAX = 300_000
const EMPTY_CODE_PREFIX = '0xef0100'

export interface CallRequest {
  readonly from: Hex
  /** `null` runs `data` as the code of a creation. */
  readonly to: Hex | null
  readonly data: Hex
  readonly value: bigint
  /** At most {@link TRANSACTION_GAS_LIMIT}. */
  readonly gas: bigint
}
export interface EstimateRequest extends CallRequest {
  readonly accessList: NonNullable<FeeMarketEIP1559TxData['accessList']>
  readonly authorizationList: unknown[]
}

export interface Devnet {
  readonly chainId: number
  readonly blocks: readonly Mined[]
  /** The block; `null` when there is none such. */
  find(reference: BlockReference): Mined | null
  /** The block of this transaction. */
  findTransaction(hash: Hex): Mined | null
  /** Executes a signed transaction in a block of its own and stores it; its hash. Throws RpcError, and then nothing changed. */
  send(raw: Uint8Array): Promise<Hex>
  /** Puts code at an address, in a block of its own; `false`: it is there already. Throws RpcError when other code is. */
  setCode(what: SetCode): Promise<boolean>
  /**
   * Forgets all blocks behind this one, here and in the store, as a chain does that reorganises: other transactions give other blocks.
   * For tests. The transactions of those blocks may be sent again.
   */
  rewind(toBlock: number): Promise<void>
  /** What a call would do at this block, in `milliseconds` at most. Nothing changes. */
  call(request: CallRequest, at: Mined, milliseconds: number): Promise<EVMResult['execResult']>
  /** What a transaction would do next; every authorization in it counts as signed. Nothing changes. */
  simulate(request: EstimateRequest, milliseconds: number): Promise<RunTxResult>
  /** Account at this block. */
  account(address: Hex, at: Mined): Promise<{ nonce: bigint; balance: bigint }>
  code(address: Hex, at: Mined): Promise<Hex>
  /** 32 bytes. */
  storage(address: Hex, slot: Hex, at: Mined): Promise<Hex>
}

interface Chain {
  readonly chainId: number
  readonly machine: Machine
  readonly store: ChainStore
  /** Unix seconds. */
  readonly now: () => number
  readonly blocks: Mined[]
  readonly numbers: Map<Hex, number>
  readonly transactions: Map<Hex, number>
  /** Of all transactions. */
  bytes: number
  /** Time they took, ms. */
  worked: number
  /** Bytes kept of them. */
  kept: number
}

const addressOf = (hex: Hex): Address => createAddressFromString(hex)
const refusal = (message: string): RpcError => new RpcError(RPC.SERVER, message)

/** What a stored chain was executed by; another library may execute differently. */
export const chainRules = `${HARDFORK}, ethereumjs 10.1.3`

/**
 * The chain of this store, executed from its first transaction on. `now` is Unix seconds; `progress` hears of each block.
 * Throws ChainDamaged when a stored
 * transaction cannot be executed or does not give the block it gave before.
 */
export async function openDevnet(
  chainId: number, store: ChainStore, now: () => number, progress: (blocks: number) => void = () => undefined,
): Promise<Devnet> {
  const blocks: Mined[] = []
  const blockchain = {
    getBlock: async (number: number) => ({ hash: () => toBytes(blocks[number]!.hash) }),
    putBlock: async () => undefined,
    shallowCopy: () => blockchain,
  }
  const machine = await createMachine(commonOf(chainId), blockchain)
  const chain: Chain = {
    chainId, machine, store, now, blocks, numbers: new Map(), transactions: new Map(), bytes: 0, worked: 0, kept: 0,
  }
  const root = await machine.state.getStateRoot()
  add(chain, createBlock({ header: { ...headerBase(0, 0), stateRoot: root } }, { common: machine.common }), null)
  await restore(chain, progress)
  return {
    chainId,
    blocks,
    find: (reference) => find(chain, reference),
    findTransaction: (hash) => blocks[chain.transactions.get(hash) ?? -1] ?? null,
    send: (raw) => send(chain, raw),
    setCode: (what) => setCode(chain, what),
    rewind: (toBlock) => rewind(chain, toBlock),
    call: (request, at, milliseconds) => call(chain, request, at, milliseconds),
    simulate: (request, milliseconds) => simulate(chain, request, milliseconds),
    async account(address, at) {
      const account = await (await stateAt(chain, at)).state.getAccount(addressOf(address))
      return { nonce: account?.nonce ?? 0n, balance: account?.balance ?? 0n }
    },
    code: async (address, at) => toHex(await (await stateAt(chain, at)).state.getCode(addressOf(address))),
    storage: async (address, slot, at) => {
      const value = await (await stateAt(chain, at)).state.getStorage(addressOf(address), toBytes(slot))
      return `0x${toHex(value).slice(2).padStart(64, '0')}`
    },
  }
}

/** The blocks of the store: read back as far as they were kept, the others executed again. */
async function restore(chain: Chain, progress: (blocks: number) => void): Promise<void> {
  const { machine, store, blocks } = chain
  let reading = true
  for (const stored of store.blocks()) {
    const found = reading ? store.kept(stored) : null
    if (found !== null) {
      readBack(chain, stored, found.kept, found.bytes)
      continue
    }
    if (reading) await machine.state.setStateRoot(blocks.at(-1)!.stateRoot)
    reading = false
    await replay(chain, stored)
    progress(stored.number)
  }
  if (reading) await machine.state.setStateRoot(blocks.at(-1)!.stateRoot)
}

/** All that is known is read again, because what a block added to the states stands in the store alone. */
async function rewind(chain: Chain, toBlock: number): Promise<void> {
  if (!Number.isInteger(toBlock) || toBlock < 0 || toBlock >= chain.blocks.length) throw new Error(`there is no block ${toBlock}`)
  chain.store.cut(toBlock)
  chain.blocks.length = 1
  chain.machine.nodes.forget()
  chain.numbers.clear()
  chain.numbers.set(chain.blocks[0]!.hash, 0)
  chain.transactions.clear()
  chain.bytes = chain.worked = chain.kept = 0
  await chain.machine.state.setStateRoot(chain.blocks[0]!.stateRoot)
  await restore(chain, () => undefined)
}

function readBack(chain: Chain, { raw }: StoredBlock, { mined, nodes, ms }: Kept, bytes: number): void {
  for (const [key, value] of nodes) chain.machine.nodes.set(key, value)
  chain.machine.nodes.take()
  place(chain, mined as Mined)
  chain.bytes += raw.length
  chain.worked += ms
  chain.kept += bytes
}

const headerBase = (number: number, timestamp: number): Record<string, bigint> => ({
  number: BigInt(number), timestamp: BigInt(timestamp), gasLimit: BLOCK_GAS_LIMIT, baseFeePerGas: 0n, blobGasUsed: 0n, excessBlobGas: 0n,
})

/** Adds the block that stands in `block`, with what its transaction did. */
function add(chain: Chain, block: Block, executed: { transaction: TypedTransaction; result: RunTxResult } | null): void {
  const [number, hash, timestamp] = [chain.blocks.length, toHex(block.hash()), Number(block.header.timestamp)]
  const at = { number, hash, timestamp }
  const done = executed === null ? null : doneRecord(at, executed.transaction, executed.result)
  place(chain, { ...at, stateRoot: block.header.stateRoot, header: headerRecord(at, block), done })
}

function place(chain: Chain, mined: Mined): void {
  chain.blocks.push(mined)
  chain.numbers.set(mined.hash, mined.number)
  if (mined.done !== null) chain.transactions.set(mined.done.hash, mined.number)
}

function find(chain: Chain, reference: BlockReference): Mined | null {
  if (reference === 'latest') return chain.blocks.at(-1)!
  const number = typeof reference === 'number' ? reference : chain.numbers.get(reference.hash)
  return chain.blocks[number ?? -1] ?? null
}

const stateAt = async (chain: Chain, at: Mined): Promise<Machine> =>
  at.number === chain.blocks.length - 1 ? chain.machine : chain.machine.at(at.stateRoot)

async function send(chain: Chain, raw: Uint8Array): Promise<Hex> {
  const transaction = decode(chain, raw)
  const hash = toHex(transaction.hash())
  if (chain.transactions.has(hash)) throw refusal('already known')
  checkRoom(chain, raw)
  await admit(chain, transaction)
  await append(chain, transaction, raw)
  return hash
}

function checkRoom(chain: Chain, raw: Uint8Array): void {
  const full = chain.blocks.length >= BLOCKS_MAX || chain.bytes + raw.length > STORED_BYTES_MAX || chain.kept > KEPT_BYTES_MAX
  if (full || chain.worked > WORK_MS_MAX) throw new RpcError(RPC.LIMIT, 'the chain is full')
}

function append(chain: Chain, work: Work, raw: Uint8Array, milliseconds = TRANSACTION_MS): Promise<void> {
  const timestamp = Math.max(chain.blocks.at(-1)!.timestamp, chain.now())
  return mine(chain, work, raw, timestamp, { milliseconds, before: false }, (block) => chain.store.append(block))
}

async function setCode(chain: Chain, what: SetCode): Promise<boolean> {
  const raw = encodeSetCode(what)
  const found = toHex(await chain.machine.state.getCode(addressOf(what.address)))
  if (found === what.code.toLowerCase()) return false
  if (found !== '0x') throw refusal(`other code is at ${what.address}`)
  checkRoom(chain, raw)
  // Of the exchange itself, at a start, when the machine may be busy.
  await append(chain, what, raw, STORED_MS)
  return true
}

async function replay(chain: Chain, { number, timestamp, hash, raw }: StoredBlock): Promise<void> {
  try {
    await mine(chain, decodeSetCode(raw) ?? decode(chain, raw), raw, timestamp, { milliseconds: STORED_MS, before: true }, (block) => {
      if (toHex(block.hash) !== toHex(hash)) throw new ChainDamaged(`block ${number} is not the one it was`)
    })
  } catch (error) {
    if (error instanceof ChainDamaged) throw error
    throw new ChainDamaged(`the transaction of block ${number} cannot be executed: ${(error as Error).message.split('\n')[0]}`)
  }
}

function decode(chain: Chain, raw: Uint8Array): TypedTransaction {
  let transaction: TypedTransaction
  try {
    transaction = createTxFromRLP(raw, { common: chain.machine.common })
  } catch (error) {
    const message = (error as Error).message
    if (/chain ?id/i.test(message)) throw refusal('invalid chain id for signer')
    if (/gas ?limit/i.test(message)) throw refusal(`transaction gas limit too high: at most ${TRANSACTION_GAS_LIMIT}`)
    throw refusal('invalid transaction')
  }
  if (transaction.type === TransactionType.BlobEIP4844) throw refusal('transaction type not supported')
  if (transaction.type === TransactionType.Legacy && !transaction.supports(Capability.EIP155ReplayProtection)) {
    throw refusal('only replay-protected (EIP-155) transactions allowed')
  }
  return transaction
}

/** What may be said of a transaction before it is executed, in the words of other nodes, which tools know. */
async function admit(chain: Chain, transaction: TypedTransaction): Promise<void> {
  if (!transaction.isSigned() || !transaction.verifySignature()) throw refusal('invalid sender')
  if (transaction.gasLimit < transaction.getIntrinsicGas()) throw refusal('intrinsic gas too low')
  const { state } = chain.machine
  const sender = transaction.getSenderAddress()
  const account = await state.getAccount(sender)
  const nonce = account?.nonce ?? 0n
  if (transaction.nonce < nonce) throw refusal(`nonce too low: next nonce ${nonce}, tx nonce ${transaction.nonce}`)
  if (transaction.nonce > nonce) throw refusal(`nonce too high: next nonce ${nonce}, tx nonce ${transaction.nonce}`)
  const price = 'maxFeePerGas' in transaction ? transaction.maxFeePerGas : transaction.gasPrice
  if (transaction.gasLimit * price + transaction.value > (account?.balance ?? 0n)) {
    throw refusal('insufficient funds for gas * price + value: accounts of this chain have none, gas is free')
  }
  const code = toHex(await state.getCode(sender))
  if (code !== '0x' && !code.startsWith(EMPTY_CODE_PREFIX)) throw refusal('sender not an eoa')
}

/** Root of the trie that has this value at index 0 and nothing else: one leaf, at the path of the index's encoding, 0x80. */
export const rootOfOne = (value: Uint8Array): Uint8Array => keccak_256(toRlp([Uint8Array.of(0x20, 0x80), value], 'bytes'))

/** What makes a block. */
type Work = TypedTransaction | SetCode
const isSetCode = (work: Work): work is SetCode => 'code' in work

/** Executes the work in the next block and adds it; `check` may refuse the block by throwing. */
async function mine(
  chain: Chain, work: Work, raw: Uint8Array, timestamp: number, limits: { milliseconds: number; before: boolean },
  check: (block: StoredBlock) => void,
): Promise<void> {
  const { machine } = chain
  const { common, vm, state } = machine
  const parent = chain.blocks.at(-1)!
  const header = { ...headerBase(parent.number + 1, timestamp), parentHash: toBytes(parent.hash) }
  let built: { block: Block; stored: StoredBlock; executed: Parameters<typeof add>[2] } | undefined
  const begun = performance.now()
  const run = async (): Promise<RunTxResult | null> => {
    if (!isSetCode(work)) return execute(vm, work, createBlock({ header }, { common }))
    await putCode(machine, work)
    return null
  }
  await machine.within(limits.milliseconds, run, async (result) => {
    const executed = isSetCode(work) || result === null ? null : { transaction: work, result }
    const full = { ...header, stateRoot: await state.getStateRoot(), ...(executed === null ? {} : rootsOf(executed)) }
    const block = createBlock({ header: full, transactions: executed === null ? [] : [executed.transaction] }, { common })
    const stored = { number: parent.number + 1, timestamp, hash: block.hash(), raw }
    check(stored)
    built = { block, stored, executed }
    return true
  }, limits.before)
  const { block, stored, executed } = built!
  add(chain, block, executed)
  const ms = performance.now() - begun
  chain.bytes += raw.length
  chain.worked += ms
  keep(chain, stored, ms)
}

/** What the header of a block says of its one transaction. */
function rootsOf({ transaction, result }: { transaction: TypedTransaction; result: RunTxResult }): Record<string, Uint8Array | bigint> {
  const receipt = result.receipt as PostByzantiumTxReceipt
  return {
    transactionsTrie: rootOfOne(transaction.serialize()),
    receiptTrie: rootOfOne(encodeReceipt(receipt, transaction.type)),
    logsBloom: result.bloom.bitvector,
    gasUsed: result.totalGasSpent,
  }
}

/** Without it the next start executes this block and all behind it. */
function keep(chain: Chain, stored: StoredBlock, ms: number): void {
  const kept = { mined: chain.blocks.at(-1)!, nodes: chain.machine.nodes.take(), ms }
  try {
    chain.kept += chain.store.keep(stored, kept)
  } catch {
    chain.kept += kept.nodes.reduce((sum, [key, value]) => sum + key.length + value.length, 0)
  }
}

/** Runs a transaction. What the machine itself refuses, beyond what {@link admit} said, is a refusal without its details. */
async function execute(vm: Machine['vm'], transaction: TypedTransaction, block: Block, skipBalance = false): Promise<RunTxResult> {
  try {
    return await runTx(vm, { tx: transaction, block, skipBalance, skipHardForkValidation: true })
  } catch {
    throw refusal('invalid transaction')
  }
}

/** The block after `at`; calls at the newest block see the present. */
function blockFor(chain: Chain, at: Mined): Block {
  const newest = at.number === chain.blocks.length - 1
  const header = newest ? headerBase(at.number + 1, Math.max(at.timestamp, chain.now())) : headerBase(at.number, at.timestamp)
  return createBlock({ header: { ...header, parentHash: toBytes(at.hash) } }, { common: chain.machine.common })
}

async function call(chain: Chain, request: CallRequest, at: Mined, milliseconds: number): Promise<EVMResult['execResult']> {
  const machine = await stateAt(chain, at)
  const block = blockFor(chain, at)
  const result = await machine.within(milliseconds, () =>
    machine.vm.evm.runCall({
      block,
      caller: addressOf(request.from),
      ...(request.to === null ? {} : { to: addressOf(request.to) }),
      data: toBytes(request.data),
      value: request.value,
      gasLimit: request.gas,
      skipBalance: true,
    }),
  )
  return result.execResult
}

async function simulate(chain: Chain, request: EstimateRequest, milliseconds: number): Promise<RunTxResult> {
  const { machine } = chain
  const { common, state, vm } = machine
  const from = addressOf(request.from)
  const nonce = (await state.getAccount(from))?.nonce ?? 0n
  const { accessList, authorizationList, data, value, gas: gasLimit } = request
  const type = authorizationList.length > 0 ? TransactionType.EOACodeEIP7702 : TransactionType.FeeMarketEIP1559
  const to = request.to === null ? {} : { to: request.to }
  const content = { type, nonce, gasLimit, value, data, accessList, ...to, ...(authorizationList.length > 0 ? { authorizationList } : {}) }
  let transaction: TypedTransaction
  try {
    transaction = createTx(content as TypedTxData, { common, freeze: false })
  } catch {
    throw new RpcError(RPC.INVALID_PARAMS, 'invalid transaction')
  }
  // Nobody signed it: it is executed as if the sender had.
  transaction.getSenderAddress = () => from
  transaction.isSigned = () => true
  return machine.within(milliseconds, () => execute(vm, transaction, blockFor(chain, chain.blocks.at(-1)!), true))
}
