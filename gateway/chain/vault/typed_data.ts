/**
 * Authorisations of withdrawals (EIP-712) and the call that carries one.
 */
import { encodeFunctionData, hashTypedData, parseAbi, type TypedDataDefinition } from 'viem'
import type { Authorisation, Hex, Places } from './types.ts'

export const DOMAIN = { name: 'Ringbook Vault', version: '1' } as const
export const DOMAIN_TYPES = {
  EIP712Domain: [
    { name: 'name', type: 'string' }, { name: 'version', type: 'string' }, { name: 'chainId', type: 'uint256' },
    { name: 'verifyingContract', type: 'address' },
  ],
} as const

export const WITHDRAWAL_TYPES = {
  Withdrawal: [
    { name: 'token', type: 'address' },
    { name: 'amount', type: 'uint256' },
    { name: 'destination', type: 'address' },
    { name: 'nonce', type: 'uint256' },
    { name: 'deadline', type: 'uint256' },
  ],
} as const

type WithdrawalTypedData = TypedDataDefinition<typeof WITHDRAWAL_TYPES, 'Withdrawal'>

/** What is signed. */
export function withdrawalTypedData({ chainId, vault }: Places, message: Authorisation): WithdrawalTypedData {
  return {
    domain: { ...DOMAIN, chainId, verifyingContract: vault },
    types: WITHDRAWAL_TYPES,
    primaryType: 'Withdrawal',
    message: {
      token: message.token, amount: message.amount, destination: message.destination, nonce: message.nonce, deadline: message.deadline,
    },
  }
}

/** Its 32 bytes. */
export const withdrawalDigest = (places: Places, message: Authorisation): Hex => hashTypedData(withdrawalTypedData(places, message))

const WITHDRAW = parseAbi([
  'function withdraw(address token, uint256 amount, address destination, uint256 nonce, uint256 deadline, bytes signature)',
])

/** Data of the transaction with which anybody withdraws to the authorised destination. */
export function withdrawCalldata({ token, amount, destination, nonce, deadline }: Authorisation, signature: Hex): Hex {
  return encodeFunctionData({ abi: WITHDRAW, functionName: 'withdraw', args: [token, amount, destination, nonce, deadline, signature] })
}
