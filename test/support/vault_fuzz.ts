/**
 * Random calls of vault, factory and tokens, each held against the model (vault_model.ts), and the ledger of an outsider who sees events
 * and balances only. Everything is drawn from the seed.
 */
import { toHex, type Hex } from 'viem'
import { createPrng, type Prng } from '../../core/lib/prng.ts'
import type { ArtifactName } from '../../gateway/chain/vault/artifacts.ts'
import { PEOPLE, VaultCalls, type Call, type Scene } from './vault_calls.ts'
import { VaultLedger } from './vault_ledger.ts'
import { Refused, VaultModel, type Sweep, type Told } from './vault_model.ts'
import {
  DEFAULT, done, hostileToken, MAX, newGround, newToken, OPERATOR, OTHER, OWNER, ZERO, type Outcome, type Placed,
} from './vault_ground.ts'

const RICH = 1_000_000n
/** Calls between two looks at everything. */
const LOOK_EVERY = 250

export interface FuzzOptions {
  readonly seed: number
  /** Code of the vault instead of the right one. */
  readonly vault?: { readonly abi: Placed['abi']; readonly bytecode: Hex }
}

export class VaultFuzz {
  readonly #random: Prng
  readonly #scene: Scene
  readonly #model: VaultModel
  readonly #drawn: VaultCalls
  readonly #ledger: VaultLedger
  /** Calls by name, and how they ended. */
  readonly counts = new Map<string, number>()
  calls = 0

  private constructor(random: Prng, scene: Scene) {
    const { ground, vault, factory, tokens } = scene
    this.#random = random
    this.#scene = scene
    this.#model = new VaultModel({
      vault: vault.address, hostile: tokens[2]!.address, contracts: [vault, factory, ...tokens].map(({ address }) => address),
      owner: OWNER.address, operator: OPERATOR.address, time: ground.time,
    })
    this.#drawn = new VaultCalls(random, this.#model, scene)
    this.#ledger = new VaultLedger(vault.address)
  }

  static async create({ seed, vault: code }: FuzzOptions): Promise<VaultFuzz> {
    const ground = await newGround()
    const vault = await ground.create(code ?? 'Vault', [OWNER.address, OPERATOR.address])
    const factory = await ground.create('DepositFactory', [OWNER.address])
    const kinds: (ArtifactName | { abi: Placed['abi']; bytecode: Hex })[] = ['TestToken', 'TestToken', hostileToken(), 'TestToken']
    const tokens: Placed[] = []
    for (const kind of kinds) tokens.push(await newToken(ground, kind))
    const forwarders: Sweep[] = []
    for (const { address: beneficiary } of PEOPLE.slice(2)) {
      for (const application of [DEFAULT, OTHER]) {
        const forwarder = await ground.read<Hex>(factory, 'addressOf', [beneficiary, application])
        forwarders.push({ beneficiary, application, forwarder, token: ZERO })
      }
    }
    const fuzz = new VaultFuzz(createPrng(seed), { ground, vault, factory, tokens, forwarders })
    await fuzz.#fund()
    return fuzz
  }

  /** Everybody is rich and lets the vault take it; two tokens are listed. */
  async #fund(): Promise<void> {
    const { ground, vault, tokens } = this.#scene
    for (const [at, token] of tokens.entries()) {
      for (const [n, who] of PEOPLE.entries()) {
        if (at === 2) await done(ground.act(who, token, 'give', [who.address, RICH]))
        else await done(ground.act(OPERATOR, token, 'mint', [toHex(n, { size: 32 }), who.address, RICH]))
        await done(ground.act(who, token, 'approve', [vault.address, MAX]))
        this.#model.add(token.address, who.address, RICH)
        this.#model.minted.add(token.address + toHex(n, { size: 32 }))
        this.#model.allowances.set(token.address + who.address, MAX)
      }
    }
    for (const token of [tokens[0]!, tokens[2]!]) {
      await done(ground.act(OWNER, vault, 'setToken', [token.address, true, 3_000_000n]))
      this.#model.setToken(OWNER.address, token.address, true, 3_000_000n)
    }
  }

  /** One random call; what is wrong with it, `null`: nothing. */
  async step(): Promise<string | null> {
    this.#scene.ground.time = this.#model.time += BigInt(this.#random.below(20) === 0 ? this.#random.below(90_000) : this.#random.below(30))
    const call = await this.#drawn.draw()
    const [expected, deposits] = this.#expect(call)
    const outcome = await this.#scene.ground.act(call.who, call.on, call.name, call.args)
    this.calls++
    const got = outcome.error?.split('(')[0] ?? 'done'
    this.counts.set(`${call.name} ${got}`, (this.counts.get(`${call.name} ${got}`) ?? 0) + 1)
    const wrong = got === expected ? await this.#check(outcome, deposits) : `the contract says ${got}, the model ${expected}`
    return wrong === null ? null : `call ${this.calls}, ${call.name}(${call.args.map(String).join(', ')}) of ${call.who.address}: ${wrong}`
  }

  /** What the model says; what a refused call did in it is taken back. */
  #expect(call: Call): [string, Told[]] {
    const model = this.#model
    const [balances, allowances, deposits] = [new Map(model.balances), new Map(model.allowances), model.deposits]
    try {
      return ['done', call.does(model)]
    } catch (error) {
      if (!(error instanceof Refused)) throw error
      Object.assign(model, { balances, allowances, deposits })
      return [error.message, []]
    }
  }

  async #check(outcome: Outcome, deposits: Told[]): Promise<string | null> {
    const [{ ground, vault, tokens }, model] = [this.#scene, this.#model]
    const told = outcome.events.filter(({ address, name }) => address === vault.address && name === 'Deposit')
    const said = told.map(({ args }) => [args['id'], args['token'], args['amount']].join(' '))
    if (said.join() !== deposits.map((one) => one.join(' ')).join()) return `it tells of deposits ${said}, the model of ${deposits.join()}`
    for (const { address: token, abi } of tokens) {
      const held = await ground.read<bigint>({ address: token, abi }, 'balanceOf', [vault.address])
      const expected = model.balance(token, vault.address)
      if (held !== expected) return `the vault holds ${held} of ${token}, not ${expected}`
      this.#ledger.holds(token, held)
    }
    this.#ledger.see(outcome.events, model.time, (token) => model.listing(token).limit)
    return this.#ledger.wrong() ?? (this.calls % LOOK_EVERY === 0 ? this.lookAtAll() : null)
  }

  /** Everything there is to read, against the model; what differs first. */
  async lookAtAll(): Promise<string | null> {
    const [model, { ground, vault, factory, tokens }] = [this.#model, this.#scene]
    const pairs: [string, unknown, unknown][] = []
    const look = async (name: string, expected: unknown, args: readonly unknown[] = [], on = vault): Promise<void> => {
      pairs.push([`${name}(${args.join()})`, String(await ground.read(on, name, args)), String(expected)])
    }
    for (const role of ['owner', 'pendingOwner', 'operator', 'pendingOperator', 'paused'] as const) await look(role, model[role])
    await look('depositCount', model.deposits)
    await look('lastBatch', model.batches.length)
    await look('vault', model.factoryOpen ? vault.address : ZERO, [], factory)
    const words = new Map<bigint, bigint>([[0n, 0n]])
    for (const nonce of model.nonces) words.set(nonce / 256n, (words.get(nonce / 256n) ?? 0n) | (1n << (nonce % 256n)))
    for (const [word, bits] of words) await look('nonceBitmap', bits, [word])
    for (const token of tokens) {
      const { listed, limit, day, used } = model.listing(token.address)
      await look('tokens', [listed, limit, day, used], [token.address])
      await look('remainingToday', model.remaining(token.address), [token.address])
      for (const who of this.#drawn.places) await look('balanceOf', model.balance(token.address, who), [who], token)
    }
    for (const [at, batch] of model.batches.entries()) {
      const roots = [1, toHex(at + 1, { size: 32 }), 2, toHex(0, { size: 32 })]
      if (at < 3 || at > model.batches.length - 4) await look('batches', [batch.through, ...roots, batch.postedAt], [BigInt(at + 1)])
    }
    const different = pairs.find(([, got, expected]) => got !== expected)
    return different === undefined ? null : `${different[0]} is ${different[1]}, not ${different[2]}`
  }
}
