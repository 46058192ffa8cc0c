/** What commands of mass cancels, deadlines and connections may say (orders/dead_man.ts, orders/cancel_on_disconnect.ts). */

/** Orders one CANCEL_ALL record may end: bounds the work of one command and the answers it puts on a reply ring. */
export const CANCEL_ALL_MAX = 1000
/** Longest time of a dead man's switch, ms: a day. */
export const AFTER_MS_MAX = 86_400_000
/** CANCEL_ALL.afterMs: the account has no deadline from now on. */
export const DISARM = -1
/** CANCEL_ALL.afterMs: the connection ended that asked for it (orders/dead_man.ts); its session may be over. */
export const AT_END = -2
/** CANCEL_ALL.afterMs: a connection opened that cancels at its end. */
export const CONNECTION_OPENED = -3
/** CANCEL_ALL.afterMs: such a connection does not cancel at its end any more. */
export const CONNECTION_KEPT = -4
/** Longest time after a start in which an account may return, ms. */
export const GRACE_MS_MAX = 60_000
/** CONTINUE_CANCEL.fires: the exchange started, so connections that were open have ended (orders/cancel_on_disconnect.ts); no account. */
export const AT_START = 2
