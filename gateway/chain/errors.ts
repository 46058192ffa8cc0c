/** What the chain's JSON-RPC interface refuses: standard codes (JSON-RPC 2.0, EIP-1474), a message for people, data of a revert. */
export const RPC = {
  PARSE: -32700,
  INVALID_REQUEST: -32600,
  METHOD_NOT_FOUND: -32601,
  INVALID_PARAMS: -32602,
  INTERNAL: -32603,
  /** Execution ended with an exception, a transaction was refused, or a block is unknown. */
  SERVER: -32000,
  /** The chain as a whole serves nothing. */
  UNAVAILABLE: -32002,
  /** A bound of range, count or size. */
  LIMIT: -32005,
  /** A contract reverted; `data` is what it returned. */
  REVERTED: 3,
} as const

export class RpcError extends Error {
  override name = 'RpcError'
  readonly code: number
  readonly data: string | undefined
  constructor(code: number, message: string, data?: string) {
    super(message)
    this.code = code
    this.data = data
  }
}
