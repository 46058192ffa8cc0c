/**
 * Promise: in Debian's Chromium, under the strict policy, `/docs` shows every operation, finds one by its name, signs in with a throwaway
 * wallet made in the page and tries signed operations; `/docs/guide` shows streams and order entry. Nothing is loaded from elsewhere,
 * nothing is stored, and the policy has nothing to refuse.
 *
 * With SCREENSHOTS=<folder> both pages are pictured, in light and in dark.
 */
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { chromium, type BrowserContext, type Page } from 'playwright-core'
import t, { type Test } from 'tap'
import { privateKeyToAccount, generatePrivateKey } from 'viem/accounts'
import { OPERATIONS } from '../../gateway/operations/index.ts'
import { lacks } from '../suite/packages.ts'
import { removeDirectory, startExchange, temporaryDirectory } from '../support/exchange.ts'

t.setTimeout(600_000)
const CHROMIUM = '/usr/bin/chromium'
const FLAGS = [
  '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update',
  '--disable-sync',
]
const pictures = process.env['SCREENSHOTS']
const skip = !existsSync(CHROMIUM) && lacks(['chromium'], 'there is no browser here')

async function launch(t: Test): Promise<BrowserContext> {
  const profile = mkdtempSync(join(tmpdir(), 'profile-'))
  const options = { executablePath: CHROMIUM, headless: true, args: FLAGS, viewport: { width: 1280, height: 900 } }
  const browser = await chromium.launchPersistentContext(profile, options)
  t.teardown(async () => {
    await browser.close()
    rmSync(profile, { recursive: true, force: true })
  })
  return browser
}

interface Watched {
  readonly page: Page
  /** What the page complained about. */
  readonly complaints: string[]
  /** Addresses the page asked for. */
  readonly asked: string[]
}

async function watch(browser: BrowserContext): Promise<Watched> {
  const page = await browser.newPage()
  page.setDefaultTimeout(60_000)
  await page.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce' })
  const complaints: string[] = []
  const asked: string[] = []
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text())
  })
  page.on('pageerror', (error) => complaints.push(error.message))
  page.on('request', (request) => asked.push(request.url()))
  return { page, complaints, asked }
}

async function picture(page: Page, name: string): Promise<void> {
  if (pictures === undefined) return
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme })
    await page.screenshot({ path: join(pictures, `${name}-${colorScheme}.png`) })
  }
  await page.emulateMedia({ colorScheme: 'light' })
}

/** Tries the operation out, as it stands or with this body, and gives the status and the body that Swagger UI shows. */
async function tryOut(page: Page, id: string, body?: string): Promise<{ status: string; answer: string }> {
  const block = page.locator(`.opblock[id$="-${id}"]`)
  await block.locator('.opblock-summary-control').click()
  await block.locator('.try-out__btn').click()
  if (body !== undefined) await block.locator('textarea.body-param__text').fill(body)
  await block.locator('button.execute').click()
  const live = block.locator('.live-responses-table .response')
  const status = (await live.locator('.response-col_status').innerText()).trim()
  return { status, answer: await live.locator('.highlight-code, .microlight').first().innerText() }
}

const search = (page: Page, words: string): Promise<void> => page.locator('.operation-filter-input').fill(words)
const shown = (page: Page): Promise<number> => page.locator('.opblock').count()

t.test('the pages in Chromium', { skip }, async (t) => {
  const directory = temporaryDirectory()
  const exchange = await startExchange(directory)
  t.teardown(async () => {
    await exchange.kill()
    removeDirectory(directory)
  })
  const browser = await launch(t)

  await t.test('search, a throwaway wallet, try-it', async (t) => {
    const { page, complaints, asked } = await watch(browser)
    await page.goto(`${exchange.baseUrl}/docs`)
    await page.locator('.opblock').first().waitFor()
    t.equal(await shown(page), OPERATIONS.length, 'every operation')
    await picture(page, 'rest')

    await search(page, 'CREATEORDER')
    await page.waitForFunction(() => document.querySelectorAll('.opblock').length < 5)
    t.strictSame(await page.locator('.opblock-summary-operation-id').allInnerTexts(), ['CreateOrder', 'BatchCreateOrders'])

    await search(page, 'GetProfile')
    t.match(await tryOut(page, 'GetProfile'), { status: '401', answer: /UNAUTHENTICATED/ }, 'unsigned it is refused')
    await page.locator('#throwaway').click()
    await page.locator('#status.signed').waitFor()
    const address = /0x[0-9a-f]{40}/.exec(await page.locator('#status').innerText())![0]
    await page.locator('.opblock[id$="-GetProfile"] button.execute').click()
    await page.locator('.live-responses-table .response .response-col_status', { hasText: '200' }).waitFor()
    const profile = await page.locator('.live-responses-table .highlight-code').first().innerText()
    t.ok(profile.toLowerCase().includes(address), 'it is the wallet of the page')
    await picture(page, 'rest-tried')

    await search(page, 'Mint')
    t.match(await tryOut(page, 'Mint'), { status: '200', answer: /USDC/ })
    const pairs = await fetch(`${exchange.baseUrl}/api/v1/market/pairs`)
    const { tradingPairs } = await pairs.json() as { tradingPairs: { id: string }[] }
    await search(page, 'CreateOrder')
    const tradingPairId = tradingPairs[0]!.id
    const order = { tradingPairId, orderType: 'LIMIT', side: 'BUY', quantity: '0.5', price: '2000', clientOrderId: 'try-it' }
    t.match(await tryOut(page, 'CreateOrder', JSON.stringify(order)), { status: '200', answer: /"orderId"/ })
    await search(page, 'ListOrders')
    t.match(await tryOut(page, 'ListOrders'), { status: '200' }, 'a query is signed as it is sent')

    await page.locator('#forget').click()
    await search(page, 'GetProfile')
    await page.locator('.opblock[id$="-GetProfile"] button.execute').click()
    await page.locator('.live-responses-table .response .response-col_status', { hasText: '401' }).waitFor()
    t.equal(await page.evaluate(() => localStorage.length + sessionStorage.length), 0, 'nothing is stored')
    t.strictSame(complaints.filter((text) => !text.includes('401')), [], 'the policy refuses nothing')
    t.strictSame(asked.filter((url) => !url.startsWith(exchange.baseUrl) && !url.startsWith('data:')), [], 'nothing from elsewhere')
  })

  await t.test('a wallet of somewhere else signs the text', async (t) => {
    const { page } = await watch(browser)
    await page.goto(`${exchange.baseUrl}/docs`)
    const account = privateKeyToAccount(generatePrivateKey())
    await page.locator('#own-wallet').click()
    await page.locator('#address').fill(account.address)
    await page.locator('#ask').click()
    await page.locator('#text').waitFor()
    await picture(page, 'paste')
    const text = await page.locator('#text').inputValue()
    await page.locator('#signature').fill(await account.signMessage({ message: `${text}.` }))
    await page.locator('#send').click()
    await page.locator('#status.failed').waitFor()
    await page.locator('#ask').click()
    await page.waitForFunction((before) => (document.getElementById('text') as HTMLTextAreaElement).value !== before, text)
    await page.locator('#signature').fill(await account.signMessage({ message: await page.locator('#text').inputValue() }))
    await page.locator('#send').click()
    await page.locator('#status.signed').waitFor()
    t.ok((await page.locator('#status').innerText()).includes(account.address))
  })

  await t.test('the wallet of the browser', async (t) => {
    const { page } = await watch(browser)
    const account = privateKeyToAccount(generatePrivateKey())
    await page.exposeFunction('askWallet', async (method: string, params: [`0x${string}`] | undefined) =>
      method === 'eth_requestAccounts' ? [account.address] : account.signMessage({ message: { raw: params![0] } }))
    await page.addInitScript(() => {
      const { askWallet } = globalThis as unknown as { askWallet(method: string, params: unknown): Promise<unknown> }
      const request = ({ method, params }: { method: string; params: unknown }): Promise<unknown> => askWallet(method, params)
      Object.assign(globalThis, { ethereum: { request } })
    })
    await page.goto(`${exchange.baseUrl}/docs`)
    await page.locator('#browser-wallet').click()
    await page.locator('#status.signed').waitFor()
    t.ok((await page.locator('#status').innerText()).includes(account.address))
  })

  await t.test('the guide, streams and order entry', async (t) => {
    const { page, complaints } = await watch(browser)
    await page.goto(`${exchange.baseUrl}/docs/guide#channel-orderbook`)
    await page.locator('#channel-orderbook').waitFor()
    await picture(page, 'guide')
    await page.locator('#filter').fill('order.cancel_all')
    await page.locator('#contents a:visible').first().click()
    await page.locator('#order-entry-order-cancel-all').waitFor()
    await picture(page, 'order-entry')
    t.strictSame(complaints, [])
  })
})
