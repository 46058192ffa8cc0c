/**
 * Rules: which decisions of the engine are in force, as a number in the state that only grows (SCALAR.RULES).
 *
 * A journal must replay to the events it had, so a decision that changes is asked for by this number. A fresh exchange begins with the
 * number in its genesis (`rules`; absent: 0). An older one is raised by the command SET_RULES, which the sequencer journals at the first
 * start of a version with newer rules: what stands before it keeps its meaning.
 *
 *   0  journals of the versions before these numbers
 *   1  pools are shared out among accounts; sub-accounts need the consent of their wallet; a session key belongs to one user; one command
 *      looks at so many orders and receipts, not at all there are (sweep.ts, walk.ts, receipts.ts); rows of
 *      accounts that never had anything go to other wallets (programs/blank_accounts.ts)
 *   2  one order meets so many orders at rest (book/match.ts): it ends so many expired ones at the touch, and only where it crosses; what
 *      would trade with more than PATH_MAX is cancelled; the path of a MARKET BUY is walked as far as its funds go (walk.ts); a
 *      faucet request of all assets mints those that have room (programs/faucet.ts); a mass cancel means what was there when it
 *      began, and is gone on with when nobody asks for it (sweep_rows.ts)
 *   3  a holder of sessions has at most twice as many rows as its limit, whatever keys they have (session_lists.ts); a mass cancel
 *      that goes on without a row of its own knows what was placed after it began (orders/sweep.ts)
 *   4  since they came in force every payload hash is over the normal form of the request (CLOCK.FORMS_AT); the repeated answer of a key
 *      has the time of the first; the RESULT of what is refused for want of funds or of room says how much there was (orders/refuse.ts);
 *      an account may have a deadline at which its orders are cancelled (orders/dead_man.ts)
 *   5  one user alone moves no number that moves other users' money (each decision is listed below)
 *      - a start cancels orders of connections that cancel at their end (orders/cancel_on_disconnect.ts)
 *      - the second half of the places of TWAP orders is for accounts that could place the least order of the pair (programs/twaps.ts)
 *      - one step of an index is no more than the least initial margin bears with its costs (margin/index_step.ts)
 *      - the insurance fund covers a share a day of each market and an allowance a day of each owner (margin/fund_limits.ts)
 *      - an index that jumps by more than the least maintenance margin lets orders only reduce until it is confirmed (margin/index_jump.ts)
 *      - whom a position was opened against, and who holds much of the other side, is deleveraged first (liquidation/first_asked.ts)
 *      - the day of all counts withdrawals that are signed, with a part kept for small and first ones; approval counts what an account asks
 *        for in a day (programs/withdrawals.ts)
 *      - an order that reduces is cut to what one order may have, and the value that an agent is granted counts what is left; a spot SELL
 *        of all that is available may be smaller than an order must be (orders/admission.ts)
 *      - copies have limits from the leader's fill and from the mark, and wait for a price; a leader has a least equity, and an allocation
 *        counts up to a multiple of it (orders/copy_price.ts, orders/copy_open.ts)
 *      - a handle is unique in an application, and is found there alone (programs/leaders.ts)
 *      - a deposit that found no row in suspense is known, and found again when it is sent again (programs/deposits.ts)
 *      - legs are held to every grant of the agent that brings them, and cancels to its margin accounts (programs/grants.ts)
 *      - a TWAP order has no more leverage than its market allows; with both switches off a builder fee is refused for that alone
 *      - a mark hears a book by its impact prices alone, and its basis is bounded (margin/mark_price.ts);
 *        so do samples of the premium, and a thin book has none (margin/funding_rate.ts)
 *      - a TWAP order of a spot pair waits for the last trade within impact prices (margin/impact_price.ts)
 */
export const RULES = 5
