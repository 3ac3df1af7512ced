/** A headless Chromium for tests of pages, driven by playwright-core; and what a page contacted and complained about. */
import { existsSync } from 'node:fs';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { PATIENCE_MS } from './patience.ts';

const CANDIDATES = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

/** The browser of this machine: `RINGBOOK_CHROMIUM`, or where distributions put it; null for none. */
function findChromium(): string | null {
  const wanted = process.env['RINGBOOK_CHROMIUM'];
  return (wanted === undefined ? CANDIDATES : [wanted]).find((path) => existsSync(path)) ?? null;
}

/** Options of a suite that needs a browser: it is skipped, with the reason, where there is none. */
export const browserOptions: { readonly skip?: string } =
  findChromium() === null ? { skip: 'no Chromium here; RINGBOOK_CHROMIUM names one' } : {};

export interface OpenPage {
  readonly page: Page;
  /** URLs of requests and sockets. */
  readonly requested: readonly string[];
  /** Errors and warnings of the browser, and exceptions of the page. */
  readonly complaints: readonly string[];
}

export function launchBrowser(): Promise<Browser> {
  const executablePath = findChromium();
  if (executablePath === null) throw new Error('no Chromium here');
  const args = ['--no-sandbox', '--disable-quic', '--disable-background-networking', '--disable-component-update'];
  return chromium.launch({ executablePath, args });
}

export async function openPage(browser: Browser, options: BrowserContextOptions = {}): Promise<OpenPage> {
  const context = await browser.newContext({ viewport: { width: 1_440, height: 900 }, ...options });
  context.setDefaultTimeout(PATIENCE_MS);
  const page = await context.newPage();
  const requested: string[] = [];
  const complaints: string[] = [];
  page.on('request', (request) => requested.push(request.url()));
  page.on('websocket', (socket) => requested.push(socket.url()));
  page.on('pageerror', (error) => complaints.push(String(error)));
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text());
  });
  return { page, requested, complaints };
}
