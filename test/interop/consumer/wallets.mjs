/** Two new wallets whose keys the test holds: what they sign is asked of it over HTTP. */
export async function wallets(signer) {
  const ask = async (body) => (await fetch(`${signer}/wallet`, { method: 'POST', body: JSON.stringify(body) })).json()
  const { addresses } = await ask({ make: 2 })
  return addresses.map((address) => ({ address, signMessage: async (text) => (await ask({ address, text })).signature }))
}
