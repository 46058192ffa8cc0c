/**
 * The commands of the operator's command line: what each asks the operator port for, and what it shows people. Help and the check of
 * arguments are made from the same rows (main.ts, help.ts).
 *
 * With `--json` the answer of the port is printed as it came, so that a script sees what any other client of the port sees.
 */
import { BACKUP_COMMANDS } from './backup_commands.ts'
import { get, said, type Command } from './command.ts'
import { commandsOf } from './route_command.ts'
import { DECLARED } from './routes.ts'
import { showReady, showStatus, type Ready, type Status } from './show.ts'

const LOOKING: readonly Command[] = [
  {
    name: 'status',
    parameters: [],
    purpose: 'what the exchange is doing: counters, history, gateways, pairs',
    explains: 'Counters of requests and journal begin anew with each start; fills and accounts are those of the whole journal. The last\n'
      + 'gateway is the one for gRPC, unless that is switched off. With --json: every counter there is.',
    example: ['status', 'maintenance  off\nsequence     1,042'],
    run: async (ask) => {
      const status = await get<Status>(ask, '/status')
      return said(status, showStatus(status))
    },
  },
  {
    name: 'health',
    parameters: [],
    purpose: 'whether the process is alive',
    explains: 'The operator thread answers; that orders are matched is what ready tells.',
    example: ['health', 'alive, sequence 1042'],
    run: async (ask) => {
      const health = await get<{ sequence: number }>(ask, '/health')
      return said(health, `alive, sequence ${health.sequence}`)
    },
  },
  {
    name: 'ready',
    parameters: [],
    purpose: 'whether the matcher and every gateway work; exit code 1 when not',
    explains: 'Ready: the matcher passed its loop within the last second and every gateway within the last two. What is not well\n'
      + 'although orders are matched is named as degraded: HISTORY_SILENT, its follower hangs; HISTORY_DOWN, there is none, or\n'
      + 'the store is being made anew; HISTORY_LATE, it lacks commands of more than five seconds ago;\n'
      + 'CLOCK_WAITS, timers rest (clock accept); DISK_RESERVE and DISK_FULL;\n'
      + 'FILES_SCARCE, hardly a file can be opened, so ports rest;\n'
      + 'JOURNAL_DAMAGED, it does not read back as written; JOURNAL_GONE, its file was removed: the log says how to save it before a\n'
      + 'stop; SNAPSHOTS_SILENT and SNAPSHOTS_DOWN, the same of the follower that writes the snapshots;\n'
      + 'AUDIT_FAILED, an invariant of the state is broken, which is why no orders are taken.',
    example: ['ready', 'ready: matcher and 3 gateways'],
    run: async (ask) => {
      const ready = await get<Ready>(ask, '/ready')
      return { json: ready, text: showReady(ready), good: ready.ready }
    },
  },
  {
    name: 'metrics',
    parameters: [],
    purpose: 'all metrics, in the text format of Prometheus',
    explains: 'What a Prometheus scrapes from /metrics. With --json: one object, sample by series.',
    example: ['metrics | grep pair_status', 'exchange_pair_status{pair="BTC/USDC"} 1'],
    run: async (ask) => {
      const { text } = await ask('/metrics')
      return said(samples(text), text.trimEnd())
    },
  },
]

const MAINTENANCE: readonly Command[] = [
  {
    name: 'maintenance show',
    parameters: [],
    purpose: 'whether operations are blocked',
    explains: 'Says on or off. It changes nothing.',
    example: ['maintenance show', 'maintenance is off'],
    run: async (ask) => {
      const { maintenance: on } = await get<Status>(ask, '/status')
      return said({ maintenance: on }, `maintenance is ${on ? 'on' : 'off'}`)
    },
  },
]

/** Commands of declared routes that begin with this word. */
const declared = (word: string): Command[] =>
  DECLARED.flatMap(({ route }) => commandsOf(route)).filter(({ name }) => name.split(' ')[0] === word)

export const COMMANDS: readonly Command[] = [
  ...LOOKING, ...declared('clock'), ...MAINTENANCE,
  ...['maintenance', 'pairs', 'assets', 'limits', 'tiers', 'sessions', 'sub-accounts', 'pools', 'holders', 'orders'].flatMap(declared),
  ...['applications', 'origins', 'keys'].flatMap(declared), ...BACKUP_COMMANDS,
]

/** Samples of the text format by series; the port writes no timestamps. */
function samples(text: string): Record<string, number> {
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
  return Object.fromEntries(lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ') + 1))]))
}
