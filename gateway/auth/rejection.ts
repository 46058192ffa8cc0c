/** Why a wallet's signature was rejected, or has no verdict: what `details.reason` of a sign-in says, and the words of its message. */

export const REJECTIONS = {
  WRONG_SIGNER: 'it is not this wallet\'s signature of this text',
  COMPACT_SIGNATURE: 'compact signatures of 64 bytes (EIP-2098) are not taken; send all 65 bytes',
  SIGNATURE_FORM: 'a wallet\'s signature has 65 bytes, v 0, 1, 27 or 28, and s in the lower half',
  SIGNATURE_TOO_LONG: 'a signature has 8192 bytes at most',
  NO_CODE: 'there is no code at the address, and this is no signature of a key',
  NOT_DEPLOYED: 'the wallet is not deployed on this chain',
  CONTRACT_REVERTED: 'the contract reverted, or needed more gas than there is',
} as const satisfies Record<string, string>
export type Rejection = keyof typeof REJECTIONS

/** Reasons of what has no verdict. */
export const NO_VERDICTS = {
  CONTRACT_TIMEOUT: 'The contract did not answer in time',
} as const satisfies Record<string, string>
