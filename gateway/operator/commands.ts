/**
 * The commands of the operator's command line. Those that ask the port are made from its declared routes
 * (route_command.ts), so a new route has its commands here by itself; backup and restore ask nothing of it. Help and
 * the check of arguments are made from the same rows (main.ts, help.ts).
 *
 * With `--json` the answer of the port is printed as it came, so that a script sees what any other client of the port
 * sees.
 */
import { BACKUP_COMMANDS } from './backup_commands.ts'
import type { Command } from './command.ts'
import { REPLAY_PRICES } from './replay_prices.ts'
import { commandsOf } from './route_command.ts'
import { DECLARED } from './routes.ts'

/** First words in the order of help; others follow, and backup is last. */
const ORDER = [
  'status', 'health', 'ready', 'metrics', 'clock', 'maintenance', 'pairs', 'assets', 'perps', 'prices', 'insurance', 'liquidations',
  'limits', 'tiers', 'sessions', 'sub-accounts', 'pools', 'holders', 'orders', 'applications', 'origins', 'keys', 'builder',
  'copies', 'launches', 'referrals', 'withdrawals', 'deposits', 'chain', 'settlement', 'solvency',
]
const placeOf = ({ name }: Command): number => {
  const place = ORDER.indexOf(name.split(' ')[0]!)
  return place < 0 ? ORDER.length : place
}

/** Of one word, what looks stands before what changes. */
const asking = (['GET', 'POST'] as const)
  .flatMap((method) => DECLARED.filter(({ route }) => route.method === method))
  .flatMap(({ route }) => commandsOf(route))
  .sort((a, b) => placeOf(a) - placeOf(b))

export const COMMANDS: readonly Command[] = [...asking, REPLAY_PRICES, ...BACKUP_COMMANDS]
