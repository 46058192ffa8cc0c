/** What an exchange refuses when its history has everything: while it is behind, what is not there cannot be told from what comes late. */
import { historyReached, type Exchange } from './exchange.ts'

const ASKED_MOST = 50

/** What `ask` is refused with by a history that is not behind. Prices go on coming, so to have reached it once may not be enough. */
export async function refusalWhenReached(exchange: Exchange, ask: () => Promise<string | null>): Promise<string | null> {
  let code = await ask()
  for (let asked = 1; asked < ASKED_MOST && code === 'HISTORY_UNAVAILABLE'; asked++) {
    await historyReached(exchange)
    code = await ask()
  }
  return code
}
