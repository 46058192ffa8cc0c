/**
 * Wallets that sign the text of a sign-in. A throwaway wallet is a secp256k1 key made here, for a testnet with a faucet: whoever closes the
 * page has lost it and all it owns. The wallet of the browser is whatever put itself at `window.ethereum`.
 */
import { secp256k1 } from '/docs/kept/curves/secp256k1.js'
import { keccak_256 } from '/docs/kept/hashes/sha3.js'

const hexOf = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')

/** What EIP-191 hashes of a text. */
function digestOf(text) {
  const bytes = new TextEncoder().encode(text)
  const prefix = new TextEncoder().encode(`\x19Ethereum Signed Message:\n${bytes.length}`)
  return keccak_256(new Uint8Array([...prefix, ...bytes]))
}

export function throwawayWallet() {
  const { secretKey } = secp256k1.keygen()
  // An address is the last 20 bytes of the hash of the point's two coordinates, which follow a byte that says how they are written.
  const address = `0x${hexOf(keccak_256(secp256k1.getPublicKey(secretKey, false).subarray(1)).subarray(12))}`
  const signMessage = async (text) => {
    const [recovery, ...rest] = secp256k1.sign(digestOf(text), secretKey, { prehash: false, format: 'recovered' })
    return `0x${hexOf([...rest, 27 + recovery])}`
  }
  return { address, signMessage }
}

export async function browserWallet(provider) {
  const [address] = await provider.request({ method: 'eth_requestAccounts' })
  const signMessage = (text) => provider.request({ method: 'personal_sign', params: [`0x${hexOf(new TextEncoder().encode(text))}`, address] })
  return { address, signMessage }
}
