/** Who lives beside the simulated exchange: clients, the operator, and in some runs the drill with clients of its own. */
import { createPrng, type Prng } from '../../core/lib/prng.ts'
import type { Auditor } from './auditor.ts'
import { Client, type Surroundings } from './clients.ts'
import { Drill, DRILL_CLIENTS } from './drill.ts'
import { PAIRS } from './genesis.ts'
import { recordAt, type Life } from './machine.ts'
import { Operator } from './operator.ts'
import { PROGRAMS } from './programs/all.ts'
import { MAKER } from './programs/leases.ts'
import type { Swarm } from './swarm.ts'
import { SimulatedChain } from './vault_chain.ts'

const CLIENTS = 6

export interface Cast {
  readonly clients: readonly Client[]
  readonly operator: Operator
  readonly drill: Drill | null
  /** Of runs with money in and out. */
  readonly chain: SimulatedChain | null
  /** One turn of the operator with the programs, and of the chain; without `faults` only what is under way goes on. */
  operate(life: Life, faults: boolean): void
  /** What came after sequence `end` is declared lost. */
  loses(end: number): void
}

/** What they see of the world. */
export interface Stage {
  readonly random: Prng
  readonly swarm: Swarm
  readonly auditor: Auditor
  /** `null`: the exchange is down. */
  life(): Life | null
  wallMs(): number
  monotonicMs(): number
  count(name: string): void
}

export function castOf({ random, swarm, auditor, life, wallMs, monotonicMs, count }: Stage): Cast {
  const around: Surroundings = {
    random, wallMs, monotonicMs, swarm, pairs: PAIRS,
    bridges: () => life()?.bridges ?? [],
    state: () => life()?.sequencer.state ?? null,
    posted: (engine, base, request) => auditor.posted(recordAt(engine.commands, base), request),
    full: () => count('full rings'),
    preview: (asked, told) => life()?.questions.preview(asked, told) === true,
  }
  const clients = Array.from({ length: CLIENTS }, (_, number) => new Client(number, around))
  const operator = new Operator({
    random, swarm, wallMs, monotonicMs, count, posted: (record, request) => auditor.posted(record, request),
  })
  const drill = swarm.drill ? drillOf(clients, around, operator, count) : null
  if (swarm.programs['leases']! > 0) clients.push(new Client(clients.length, around, null, MAKER))
  // Of its own, so that it draws for nobody else.
  const chain = swarm.programs['vault']! > 0 ? new SimulatedChain({ random: createPrng(random.u32()), operator, count }) : null
  const operate = (life: Life, faults: boolean): void => {
    if (faults) operatePrograms(life, { random, swarm, chain }, clients, operator)
    chain?.act(life, faults)
  }
  const loses = (end: number): void => {
    for (const client of clients) if (client.loses(end) > 0) count('clients that lost orders')
    drill?.lost(end)
    chain?.loses(end)
  }
  return { clients, operator, drill, chain, operate, loses }
}

/** Its clients come behind the others. */
function drillOf(clients: Client[], around: Surroundings, operator: Operator, count: Stage['count']): Drill {
  const drill = new Drill({
    account: (who) => clients[CLIENTS + who]!.account, post: (...what) => operator.post(...what), wallMs: around.wallMs, count,
  })
  for (let who = 0; who < DRILL_CLIENTS; who++) clients.push(new Client(CLIENTS + who, around, drill.script(who)))
  return drill
}

function operatePrograms(
  life: Life, { random, swarm, chain }: Pick<Stage, 'random' | 'swarm'> & Pick<Cast, 'chain'>, clients: readonly Client[],
  operator: Operator,
): void {
  const authorised = (sequence: number): boolean => chain?.isAuthorised(sequence) === true
  for (const { name, operates, operate } of PROGRAMS) {
    if (swarm.programs[name] === 0 || random.below(1000) >= operates) continue
    const command = operate({ random, state: life.sequencer.state, account: (client) => clients[client]!.account, authorised })
    if (command !== null) operator.post(life, ...command)
  }
}
