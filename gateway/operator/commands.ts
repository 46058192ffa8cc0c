/**
 * The commands of the operator's command line: what each asks the operator port for, and what it shows people. Help and the check of
 * arguments are made from the same rows (main.ts, help.ts).
 *
 * With `--json` the answer of the port is printed as it came, so that a script sees what any other client of the port sees.
 */
import { formatId, IdKind, userId as formatUserId } from '../../core/layout/ids.ts'
import { APPLICATION_COMMANDS } from './application_commands.ts'
import { BACKUP_COMMANDS } from './backup_commands.ts'
import { CLOCK_COMMANDS } from './clock.ts'
import { get, said, type Command } from './command.ts'
import { LISTING_COMMANDS } from './listing_commands.ts'
import { POOL_COMMANDS } from './pool_commands.ts'
import { commandsOf } from './route_command.ts'
import { DECLARED } from './routes.ts'
import {
  showReady, showSessions, showStatus, showUnconsented, type Ready, type SessionList, type Status,
} from './show.ts'
import type { Unconsented, UnconsentedList } from './sub_accounts.ts'

/** Ids as they look, for examples. */
const USER = formatUserId(1040, 7)
const SESSION = formatId(IdKind.SESSION, 1041, 9)

type Changed = Readonly<Record<'sequence', number> & Record<'userId' | 'session', string>>

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

const SESSIONS: readonly Command[] = [
  {
    name: 'sessions list',
    parameters: [],
    options: [{ name: 'user', value: 'USER_ID' }],
    purpose: 'the live sessions of a user, newest first',
    explains: 'At most the newest 100 are listed. A session is a key that may sign for the user until it expires or is revoked; of the\n'
      + 'key the first 8 characters are shown, to recognise it. Sessions of delegated agents name the wallet that signs.',
    example: [
      `sessions list --user ${USER}`,
      'CREATED                   EXPIRES                   APPLICATION  KEY       SESSION\n'
        + `2026-01-02T03:04:05.678Z  2026-01-03T03:04:05.678Z  Ringbook     3f9a01c7  ${SESSION}`,
    ],
    run: async (ask, _parameters, { user }) => {
      const list = await get<SessionList>(ask, `/sessions?userId=${encodeURIComponent(user!)}`)
      return said(list, showSessions(list))
    },
  },
  {
    name: 'sessions revoke',
    parameters: ['SESSION'],
    purpose: 'end a session: nothing its key signs is accepted any more',
    explains: 'SESSION is the id that sessions list shows. Orders of the user stay, other sessions too, and the wallet may sign in again.',
    example: [`sessions revoke ${SESSION}`, `session ${SESSION} of user ${USER} is revoked (sequence 1042)`],
    run: async (ask, [session]) => {
      const changed = await get<Changed>(ask, '/sessions/revoke', { session })
      return said(changed, `session ${changed.session} of user ${changed.userId} is revoked (sequence ${changed.sequence})`)
    },
  },
]

const SUB_ACCOUNTS: readonly Command[] = [
  {
    name: 'sub-accounts unconsented',
    parameters: [],
    purpose: 'sub-accounts whose wallets have not agreed to their masters',
    explains: 'They were linked by a version that did not ask the wallet. They stay what they are, and trade; their masters can take\n'
      + 'nothing from them until the wallet signs in again, with a text that names the master, or signs for CreateSubAccount.',
    example: [
      'sub-accounts unconsented',
      'CREATED                   APPLICATION  WALLET                                      MASTER\n'
        + `2026-01-02T03:04:05.678Z  Ringbook     0x${'3C44'.repeat(10)}  0x${'7099'.repeat(10)}`,
    ],
    run: async (ask) => {
      const subAccounts: Unconsented[] = []
      let next: string | null = null
      do {
        const after: string = next === null ? '' : `?after=${encodeURIComponent(next)}`
        const page: UnconsentedList = await get(ask, `/sub-accounts/unconsented${after}`)
        subAccounts.push(...page.subAccounts)
        next = page.next
      } while (next !== null)
      return said({ subAccounts }, showUnconsented(subAccounts))
    },
  },
]

/** Commands of declared routes that begin with this word. */
const declared = (word: string): Command[] =>
  DECLARED.flatMap(({ route }) => commandsOf(route)).filter(({ name }) => name.split(' ')[0] === word)

export const COMMANDS: readonly Command[] = [
  ...LOOKING, ...CLOCK_COMMANDS, ...MAINTENANCE, ...declared('maintenance'), ...declared('pairs'), ...LISTING_COMMANDS, ...declared('tiers'),
  ...SESSIONS, ...SUB_ACCOUNTS, ...POOL_COMMANDS, ...APPLICATION_COMMANDS, ...BACKUP_COMMANDS,
]

/** Samples of the text format by series; the port writes no timestamps. */
function samples(text: string): Record<string, number> {
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
  return Object.fromEntries(lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ') + 1))]))
}
