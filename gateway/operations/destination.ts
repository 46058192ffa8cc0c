/**
 * Where a withdrawal may go. An address in mixed case carries a checksum (EIP-55), which must be right; in one case it carries none. The
 * zero address would burn what is paid, the vault and the factory would keep it for nobody, and so would the contract of the token.
 */
import type { SweeperAsset } from '../../core/state/sweeper.ts'
import { checksumAddress } from '../auth/challenge.ts'
import type { Places } from '../chain/vault/types.ts'
import { refusedField, type Refused } from '../refused.ts'

const FIELD = 'destination'
const ZERO = `0x${'0'.repeat(40)}`

/** `text`, 0x and 40 hex digits, in lower case; or why nothing is paid there. */
export function destinationOf(text: string, places: Pick<Places, 'vault' | 'factory'>, { tokenAddress }: SweeperAsset): string | Refused {
  const { vault, factory } = places
  const address = text.toLowerCase()
  const digits = text.slice(2)
  const isMixed = digits !== digits.toLowerCase() && digits !== digits.toUpperCase()
  if (isMixed && checksumAddress(address) !== text) {
    return refusedField(FIELD, `${FIELD} has a wrong checksum (EIP-55): a letter of it is another one, or in another case`)
  }
  if (address === ZERO) return refusedField(FIELD, `${FIELD} must not be the zero address`)
  if (address === vault) return refusedField(FIELD, `${FIELD} must not be the vault`)
  if (address === factory) return refusedField(FIELD, `${FIELD} must not be the factory of deposit addresses`)
  if (address === tokenAddress.toLowerCase()) return refusedField(FIELD, `${FIELD} must not be the contract of the token`)
  return address
}
