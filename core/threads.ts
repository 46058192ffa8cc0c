/**
 * What threads share and say to each other. Commands, answers and events travel in rings; messages are for start, stop and
 * sign-in only.
 *
 *   gateway 1..N --command ring--> matcher --reply ring--> gateway 1..N
 *   gRPC (number N + 1) --command ring--> matcher --reply ring--> gRPC
 *   operator (number 0) --command ring--> matcher --reply ring--> operator
 *   matcher --event ring--> everybody
 *   gateway --MessagePort--> sign-in thread (challenges, wallet signatures)
 *   gateway --MessagePort--> vault thread (calldata of withdrawals)
 *   vault thread --MessagePort--> operator (commands of lane 0), history reader 1 (roots of trades), signer thread (signatures)
 *   sign-in thread --JSON-RPC--> chain thread, or an outside node (contract wallets)
 */
import type { MessagePort } from 'node:worker_threads'
import type { Config } from './config.ts'
import type { Buffers } from './state/memory.ts'
import type { OperatorToken } from './operator_token.ts'

/**
 * Exit codes of the process. A death by a signal that is none of its own doing is 128 plus the signal's number (supervisor/ending.ts): 137
 * when it was killed.
 */
export const EXIT = {
  OK: 0,
  /** Bad configuration, genesis or data directory. */
  CONFIG: 2,
  /** The journal or its directory cannot be trusted or opened. */
  JOURNAL: 3,
  /** A commit failed: nothing of the batch was answered. */
  DISK: 4,
  /** A broken invariant or an uncaught error in the matcher. */
  INVARIANT: 5,
  /** Another thread died. */
  THREAD: 6,
  /** Another process uses the data directory, or the archive. */
  LOCKED: 7,
} as const

/** One ring pair of a producer of commands: number 0 is the operator, 1..N the gateways, N + 1 gRPC. */
export interface Lane {
  readonly commands: SharedArrayBuffer
  readonly replies: SharedArrayBuffer
  /** Wait cell (ring/wait.ts) on which the lane's thread sleeps for replies. */
  readonly wait: SharedArrayBuffer
  /** Cell in which the lane's thread asks the matcher what it could not copy (ring/questions.ts). */
  readonly questions: SharedArrayBuffer
}

/** Shared memory of the exchange. */
export interface Shared {
  readonly columns: Buffers
  /** Words APPLYING and STOP (ring/counters.ts). */
  readonly gate: SharedArrayBuffer
  readonly events: SharedArrayBuffer
  readonly counters: SharedArrayBuffer
  /** Counters of connections (ring/ports.ts). */
  readonly ports: SharedArrayBuffer
  /** Wait cell of the matcher. */
  readonly matcherWait: SharedArrayBuffer
  readonly lanes: readonly Lane[]
}

/** workerData of the matcher thread. It makes the columns itself, once it knows the genesis. */
export interface MatcherData {
  readonly config: Config
  readonly shared: Omit<Shared, 'columns'>
}

/** workerData of a gateway thread, and of the one for gRPC. */
export interface GatewayData {
  readonly config: Config
  readonly genesis: string
  readonly shared: Shared
  /** 1..N; gRPC N + 1. */
  readonly number: number
  /** To the sign-in thread. */
  readonly signIn: MessagePort
  /** Rows of ring/budgets.ts, shared by all gateways. */
  readonly budgets: SharedArrayBuffer
  /** Signatures that opened a session (ring/replay_guard.ts), shared by all of them. */
  readonly replayGuard: SharedArrayBuffer
  /** 32 bytes (core/data_dir.ts). */
  readonly pageTokenKey: Uint8Array
  /** To the history readers, one each. */
  readonly history: readonly MessagePort[]
}

/** workerData of a history reader. */
export interface HistoryReaderData {
  readonly config: Config
  readonly genesis: string
  /** For what is listed. */
  readonly columns: Buffers
  /** One port per gateway. */
  readonly ports: readonly MessagePort[]
}

/** workerData of the operator thread. */
export interface OperatorData {
  readonly config: Config
  /** What the port asks for before anything is changed, and where it comes from, in words. */
  readonly token: OperatorToken
  readonly genesis: string
  readonly shared: Shared
}

/** workerData of the sign-in thread. */
export interface SignInData {
  readonly config: Config
  readonly genesis: string
  /** For the applications: the columns, and the words APPLYING and STOP. */
  readonly columns: Buffers
  readonly gate: SharedArrayBuffer
  /** One port per gateway. */
  readonly ports: readonly MessagePort[]
  /** Of ring/counters.ts; the sign-in thread writes its own block. */
  readonly counters: SharedArrayBuffer
}

/** workerData of the vault thread. */
export interface VaultData {
  readonly config: Config
  readonly genesis: string
  readonly columns: Buffers
  readonly gate: SharedArrayBuffer
  /** For sequenced time. */
  readonly counters: SharedArrayBuffer
  readonly operator: MessagePort
  readonly signer: MessagePort
  /** To a history reader; absent: there is none, and nothing is settled on the chain. */
  readonly history?: MessagePort
  /** One port per gateway. */
  readonly gateways: readonly MessagePort[]
  /** Where the embedded chain is; `null`: not yet, or there is none. */
  readonly url: string | null
}

/** workerData of the chain thread. */
export interface ChainData {
  readonly config: Config
  readonly genesis: string
  /** Of ring/ports.ts. */
  readonly ports: SharedArrayBuffer
}

/** Where the key is by which the vault's operator signs: given, in a file (that is made when `make` says so), or elsewhere. */
export type VaultKeyPlace =
  | { readonly kind: 'given'; readonly key: string }
  | { readonly kind: 'file'; readonly path: string; readonly make: boolean }
  | { readonly kind: 'remote'; readonly url: string }

/** workerData of the signer thread. Whoever may ask it has a port: this one, or one of a message {@link ToSigner}. */
export interface SignerData {
  readonly place: VaultKeyPlace
  readonly port?: MessagePort
}
/** Messages of the main thread to the signer thread. */
export type ToSigner = ToThread | { readonly type: 'port'; readonly port: MessagePort }

/** An audit of the state ended: how long it took, and which invariant is broken, in words (core/snapshot/audit.ts). */
export interface AuditMessage {
  readonly type: 'audit'
  readonly sequence: number
  readonly seconds: number
  readonly broken: string | null
}

/** Messages of any thread to the main thread. */
export type FromThread =
  | { readonly type: 'ready'; readonly port?: number }
  /** `created`: there was no exchange in the directory. */
  | {
    readonly type: 'recovered'
    readonly genesis: string
    readonly columns: Buffers
    readonly sequence: number
    readonly created: boolean
  }
  | { readonly type: 'progress'; readonly stage: string; readonly records: number; readonly rate: number; readonly secondsLeft: number }
  | { readonly type: 'log'; readonly level: 'info' | 'warn' | 'error'; readonly message: string; readonly fields?: Record<string, unknown> }
  | { readonly type: 'snapshot' | 'beat'; readonly sequence: number }
  | AuditMessage
  | { readonly type: 'damage'; readonly message: string }
  | { readonly type: 'fatal'; readonly code: number; readonly message: string }
  | { readonly type: 'stopped'; readonly sequence?: number }

/** The fee tier that an account has earned. */
export interface TierChange {
  readonly account: number
  readonly tier: number
}

/**
 * Messages of the history follower to the main thread. `history`: how far it is, and whether it has caught up once. `damage`: the store was
 * not what was written and is made anew. A history reader says `damage` too, of what it could not answer from.
 */
export type FromFollower =
  | FromThread
  | {
    readonly type: 'history'
    readonly caughtUp: boolean
    readonly sequence: number
    readonly lag: number
    readonly eventsPerSecond: number
    /** Whole passes of the scrub since it began, and pages read in this one. */
    readonly scrubPasses: number
    readonly scrubPages: number
  }
  | { readonly type: 'tiers'; readonly changes: readonly TierChange[] }

/** Messages of the scrub of the journal to the main thread. `scrub`: how far this pass is. `scrubbed`: it has read everything. */
export type FromScrub =
  | Extract<FromThread, { type: 'log' }>
  | { readonly type: 'scrub'; readonly sequence: number; readonly bytes: number; readonly damaged: number }
  | { readonly type: 'scrubbed'; readonly damaged: number; readonly seconds: number }

/**
 * Messages of the main thread to any thread. `stop`: finish what is under way, close sockets, say `stopped`. `abort`: the matcher is
 * gone; close sockets at once, answer nothing. `listen`: whether the port may listen, told to threads that have one (core/descriptors.ts).
 * `certificates`: read the certificate of the port again, told to gateways and gRPC.
 */
export type ToThread = { readonly type: 'stop' | 'abort' | 'certificates' } | { readonly type: 'listen'; readonly open: boolean }
/** Messages of the main thread to gateways and gRPC. `vault`: a port to the vault thread that runs from now on. */
export type ToGateway = ToThread | { readonly type: 'vault'; readonly port: MessagePort }
/** Messages of the main thread to a history reader. `port`: one more that asks. */
export type ToReader = ToThread | { readonly type: 'port'; readonly port: MessagePort }
/** Messages of the main thread to the vault thread. `signer`: a port to the signer thread that runs from now on. */
export type ToVault = ToSignIn | { readonly type: 'signer'; readonly port: MessagePort }
/** Messages of the main thread to the sign-in thread. `chain`: where the embedded chain is, or that it is gone for now. */
export type ToSignIn = ToThread | { readonly type: 'chain'; readonly url: string | null }
/** What is logged of a new certificate that is not good. */
export const CERTIFICATE_STAYS = 'the new certificate is not used; the old one stays'
/**
 * Messages of the supervisor to the exchange process. `stop`: an orderly stop, and what asked for it. `reload`: read the certificates
 * again.
 */
export type FromSupervisor = { readonly type: 'stop'; readonly cause: string } | { readonly type: 'reload' }
/** Messages of the exchange process to its supervisor. `ending`: it ends with this code; kill it if it does not end soon. */
export type ToSupervisor = { readonly type: 'ending'; readonly code: number }
/**
 * Messages of the main thread to the operator thread. `tiers`: fee tiers that the history found earned. `audit`: one that ended.
 */
export type ToOperator = ToGateway | AuditMessage | { readonly type: 'tiers'; readonly changes: readonly TierChange[] }
