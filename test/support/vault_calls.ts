/** The random calls of vault_fuzz.ts: each with what it does in the model. */
import { toHex, type Hex } from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import type { Prng } from '../../core/lib/prng.ts'
import { authorise, DEFAULT, keyOf, MAX, OPERATOR, OTHER, OWNER, ZERO, type Ground, type Placed, type Stage } from './vault_ground.ts'
import { MODES, Refused, type Mode, type Payment, type Sweep, type Told, type VaultModel } from './vault_model.ts'

/** Keys of everybody: owner and operator are among them, and change. */
export const PEOPLE: readonly PrivateKeyAccount[] = [1, 2, 3, 4, 5, 6].map(keyOf)

export interface Call {
  readonly who: PrivateKeyAccount
  readonly on: Placed
  readonly name: string
  readonly args: readonly unknown[]
  /** What it does in the model: the deposits it makes. Throws Refused. */
  does(model: VaultModel): Told[]
}

export interface Scene {
  readonly ground: Ground
  readonly vault: Placed
  readonly factory: Placed
  /** Two honest ones, a hostile one, and one that is never listed. */
  readonly tokens: readonly Placed[]
  readonly forwarders: readonly Sweep[]
}

export class VaultCalls {
  readonly #random: Prng
  readonly #model: VaultModel
  readonly #ground: Ground
  readonly #vault: Placed
  readonly #factory: Placed
  readonly #tokens: readonly Placed[]
  readonly #forwarders: readonly Sweep[]
  readonly #signed: Payment[] = []
  readonly #signatures = new Map<Payment, Hex>()
  /** Everybody and everything that may hold tokens; vault and factory are the last two. */
  readonly places: readonly Hex[]

  constructor(random: Prng, model: VaultModel, { ground, vault, factory, tokens, forwarders }: Scene) {
    this.#random = random
    this.#model = model
    this.#ground = ground
    this.#vault = vault
    this.#factory = factory
    this.#tokens = tokens
    this.#forwarders = forwarders
    this.places = [
      ...PEOPLE.map(({ address }) => address), ...forwarders.map(({ forwarder }) => forwarder), vault.address, factory.address,
    ]
  }

  #chance = (oneIn: number): boolean => this.#random.below(oneIn) === 0
  #one = <T>(of: readonly T[]): T => of[this.#random.below(of.length)]!
  /** Usually who has the role, sometimes anybody. */
  #holder(role: Hex): PrivateKeyAccount {
    return this.#chance(5) ? this.#one(PEOPLE) : PEOPLE.find(({ address }) => address === role)!
  }

  /** Small ones, those at the edge of what there is, and huge ones. */
  #amount(held: bigint): bigint {
    const edge = [0n, 1n, 9n, 10n, held, held + 1n, MAX][this.#random.below(24)]
    return edge ?? BigInt(1 + this.#random.below(2_000))
  }

  draw(): Call | Promise<Call> {
    // Where little happens it does not stay for long.
    if (this.#model.paused && this.#chance(4)) return this.#pausing()
    if (!this.#model.factoryOpen && this.#chance(10)) return this.#setVault()
    const kinds: [number, () => Call | Promise<Call>][] = [
      [22, () => this.#deposit()], [26, () => this.#withdraw()], [8, () => this.#transfer()], [14, () => this.#sweep()],
      [4, () => this.#sweepMany()], [5, () => this.#setToken()], [3, () => this.#pausing()], [7, () => this.#roles()],
      [4, () => this.#postBatch()], [3, () => this.#mint()], [2, () => this.#rescue()], [2, () => this.#setMode()],
      [1, () => this.#setVault()],
    ]
    let at = this.#random.below(kinds.reduce((sum, [weight]) => sum + weight, 0))
    return kinds.find(([weight]) => (at -= weight) < 0)![1]()
  }

  #deposit(): Call {
    const [who, { address: token }] = [this.#one(PEOPLE), this.#one(this.#tokens)]
    const amount = this.#amount(this.#model.balance(token, who.address))
    const beneficiary = this.#chance(30) ? ZERO : this.#one(PEOPLE).address
    const args = [token, amount, beneficiary, this.#one([DEFAULT, OTHER])]
    return {
      who, on: this.#vault, name: 'deposit', args, does: (model) => [model.deposit(who.address, token, amount, beneficiary)],
    }
  }

  async #withdraw(): Promise<Call> {
    const again = this.#chance(8) && this.#signed.length > 0
    const payment = again ? this.#one(this.#signed) : await this.#sign()
    const changed = this.#chance(12) ? this.#changed(payment) : payment
    const { token, amount, destination, nonce, deadline } = changed
    return {
      who: this.#one(PEOPLE), on: this.#vault, name: 'withdraw',
      args: [token, amount, destination, nonce, deadline, this.#signatures.get(payment)!],
      does(model) {
        model.withdraw(changed)
        return []
      },
    }
  }

  async #sign(): Promise<Payment> {
    const model = this.#model
    const token = this.#chance(12) ? this.#one(this.#tokens).address : this.#one([this.#tokens[0]!, this.#tokens[2]!]).address
    const by = this.#chance(10) ? this.#one(PEOPLE) : PEOPLE.find(({ address }) => address === model.operator)!
    const nonces = [BigInt(this.#random.below(3_000)), BigInt(250 + this.#random.below(12)), MAX - BigInt(this.#random.below(300))]
    const payment: Payment = {
      token, amount: this.#amount(model.balance(token, this.#vault.address)), nonce: this.#one([nonces[0]!, ...nonces]),
      destination: this.#chance(30) ? this.#one([ZERO, this.#vault.address]) : this.#one(this.places.slice(0, -2)),
      deadline: this.#chance(10) ? model.time - 1n : this.#one([model.time, model.time + 5_000n, MAX]), signer: by.address,
    }
    const stage = { ground: this.#ground, vault: this.#vault, factory: this.#factory } as Stage
    this.#signed.push(payment)
    this.#signatures.set(payment, await authorise(stage, payment, by))
    return payment
  }

  /** Another payment with the same signature, which is then nobody's. */
  #changed(payment: Payment): Payment {
    const { amount, nonce, deadline } = payment
    const others = [
      { amount: amount ^ 1n }, { nonce: nonce ^ 1n }, { deadline: deadline ^ 1n }, { destination: this.#factory.address },
    ]
    return { ...payment, ...this.#one(others), signer: null }
  }

  /** To a deposit address, to the vault by mistake, to somebody. */
  #transfer(): Call {
    const [who, token] = [this.#one(PEOPLE), this.#one(this.#tokens)]
    const to = this.#chance(4) ? this.#one([this.#vault.address, this.#one(this.places)]) : this.#one(this.#forwarders).forwarder
    const amount = BigInt(this.#random.below(3_000))
    // In the hostile one's lying modes it does what it does to the vault, where the model knows it.
    const on = token.address === this.#model.hostile && this.#model.mode !== 'Honest' ? this.#tokens[0]! : token
    const does = (model: VaultModel): Told[] => {
      if (model.balance(on.address, who.address) < amount) throw new Refused(on === this.#tokens[2] ? 'Panic' : 'InsufficientBalance')
      model.move(on.address, who.address, to, amount)
      return []
    }
    return { who, on, name: 'transfer', args: [to, amount], does }
  }

  #drawSweep(): Sweep {
    const sweep = { ...this.#one(this.#forwarders), token: this.#one(this.#tokens).address }
    return this.#chance(30) ? { ...sweep, beneficiary: ZERO } : sweep
  }

  #sweep(): Call {
    const sweep = this.#drawSweep()
    const does = (model: VaultModel): Told[] => {
      const told = model.sweep(sweep)
      if (told === null) throw new Refused('NothingToSweep')
      return [told]
    }
    return { who: this.#one(PEOPLE), on: this.#factory, name: 'sweep', args: [sweep.beneficiary, sweep.application, sweep.token], does }
  }

  #sweepMany(): Call {
    const token = this.#one(this.#tokens).address
    const drawn = (): Sweep => ({ ...this.#drawSweep(), ...(this.#chance(3) ? {} : { token }) })
    const sweeps = Array.from({ length: this.#random.below(4) }, drawn)
    const args = [sweeps.map(({ beneficiary, application, token }) => ({ beneficiary, application, token }))]
    const does = (model: VaultModel): Told[] => sweeps.map((sweep) => model.sweep(sweep)).filter((told) => told !== null)
    return { who: this.#one(PEOPLE), on: this.#factory, name: 'sweepMany', args, does }
  }

  #of(who: PrivateKeyAccount, on: Placed, name: string, args: readonly unknown[], does: (model: VaultModel) => void): Call {
    return {
      who, on, name, args,
      does(model) {
        does(model)
        return []
      },
    }
  }

  #setToken(): Call {
    const who = this.#holder(this.#model.owner)
    const token = this.#chance(15) ? PEOPLE[0]!.address : this.#one(this.#tokens.slice(0, 3)).address
    const [listed, limit] = [!this.#chance(6), this.#one([0n, 500n, 20_000n, 3_000_000n, MAX, MAX])]
    return this.#of(who, this.#vault, 'setToken', [token, listed, limit], (model) => model.setToken(who.address, token, listed, limit))
  }

  /** It is open most of the time. */
  #pausing(): Call {
    const isPause = this.#model.paused ? this.#chance(8) : this.#chance(2)
    const who = this.#holder(isPause && this.#chance(2) ? this.#model.operator : this.#model.owner)
    return isPause
      ? this.#of(who, this.#vault, 'pause', [], (model) => model.pause(who.address))
      : this.#of(who, this.#vault, 'unpause', [], (model) => model.unpause(who.address))
  }

  #roles(): Call {
    const role = this.#one(['owner', 'operator'] as const)
    const pending = role === 'owner' ? this.#model.pendingOwner : this.#model.pendingOperator
    const suffix = role === 'owner' ? 'Owner' : 'Operator'
    if (pending !== ZERO && this.#chance(2)) {
      const who = this.#holder(pending)
      return this.#of(who, this.#vault, `accept${suffix}`, [], (model) => model.accept(who.address, role))
    }
    const [who, next] = [this.#holder(this.#model.owner), this.#chance(6) ? ZERO : this.#one(PEOPLE).address]
    return this.#of(who, this.#vault, `propose${suffix}`, [next], (model) => model.propose(who.address, role, next))
  }

  #postBatch(): Call {
    const [who, last] = [this.#holder(this.#model.operator), this.#model.batches.at(-1)?.through ?? 0n]
    const number = BigInt(this.#model.batches.length) + this.#one([1n, 1n, 1n, 1n, 0n, 2n])
    const through = last + this.#one([0n, 1n, 1n, 100n, 100n])
    const roots = [1, toHex(number, { size: 32 }), 2, toHex(0, { size: 32 })]
    return this.#of(who, this.#vault, 'postBatch', [number, through, ...roots], (model) => model.postBatch(who.address, number, through))
  }

  #mint(): Call {
    const [who, token] = [this.#holder(OPERATOR.address), this.#one([this.#tokens[0]!, this.#tokens[1]!, this.#tokens[3]!])]
    const [id, to] = [toHex(this.#random.below(200), { size: 32 }), this.#chance(10) ? ZERO : this.#one(this.places)]
    const amount = BigInt(this.#random.below(1_000))
    const isMinter = who.address === OPERATOR.address
    return this.#of(who, token, 'mint', [id, to, amount], (model) => model.mint(isMinter, token.address, id, to, amount))
  }

  #rescue(): Call {
    const [who, token] = [this.#holder(this.#model.owner), this.#one([...this.#tokens, this.#tokens[3]!]).address]
    const to = this.#chance(10) ? ZERO : this.#one(PEOPLE).address
    const amount = this.#amount(this.#model.balance(token, this.#vault.address))
    return this.#of(who, this.#vault, 'rescue', [token, to, amount], (model) => model.rescue(who.address, token, to, amount))
  }

  #setMode(): Call {
    const mode = this.#chance(3) ? 'Honest' : this.#one(Object.keys(MODES) as Mode[])
    return this.#of(this.#one(PEOPLE), this.#tokens[2]!, 'setMode', [MODES[mode]], (model) => {
      model.mode = mode
    })
  }

  #setVault(): Call {
    const [who, to] = [this.#holder(OWNER.address), this.#chance(5) ? PEOPLE[1]!.address : this.#vault.address]
    return this.#of(who, this.#factory, 'setVault', [to], (model) => {
      if (who.address !== OWNER.address) throw new Refused('Forbidden')
      if (to !== this.#vault.address) throw new Refused('NotAContract')
      model.factoryOpen = true
    })
  }
}
