// A person before the workbench: a headless browser, and the few things it does there, by what is on the screen.

import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';

import { chromium } from 'playwright-core';
import type { Locator, Page } from 'playwright-core';

import { ROOT } from './server.js';
import { until } from './until.js';

const WAIT = 60_000;
const START = 120_000;

export interface Browser {
  /** Opens an address and waits for the workbench; the password is for a server that asks for one first. */
  open(url: string, password?: string): Promise<Workbench>;
  /** A page of one's own, for what is no workbench. */
  page(): Promise<Page>;
  close(): Promise<void>;
}

export async function launchBrowser(): Promise<Browser> {
  const data = mkdtempSync(path.join(os.tmpdir(), 'chromium-'));
  const context = await chromium.launchPersistentContext(data, {
    executablePath: chromiumPath(),
    headless: true,
    viewport: { width: 1280, height: 800 },
    args: [
      ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []), // Chromium refuses to sandbox itself as root
      ...['--disable-gpu', '--disable-quic', '--no-first-run', '--disable-sync'],
      ...['--disable-background-networking', '--disable-component-update'],
    ],
  });
  return {
    async open(url, password) {
      context.setDefaultTimeout(WAIT);
      const page =
        context.pages().find((each) => each.url() === 'about:blank') ?? (await context.newPage());
      await page.goto(url, { timeout: START });
      if (password !== undefined) {
        await page.locator('input[type=password]').fill(password);
        await page.locator('input[type=submit]').click();
      }
      await page.locator('.monaco-workbench .part.statusbar').waitFor({ timeout: START });
      return new Workbench(page);
    },
    page: () => context.newPage(),
    async close() {
      await context.close();
      rmSync(data, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
    },
  };
}

function chromiumPath(): string {
  const given = process.env['CHROMIUM'];
  if (given !== undefined) return given;
  const found = (process.env['PATH'] ?? '')
    .split(path.delimiter)
    .flatMap((folder) =>
      ['chromium', 'chromium-browser', 'google-chrome'].map((name) => path.join(folder, name)),
    )
    .find((file) => existsSync(file));
  if (found === undefined)
    throw new Error('no chromium on PATH (Debian package: chromium); or set CHROMIUM');
  return found;
}

export class Workbench {
  readonly page: Page;

  constructor(page: Page) {
    this.page = page;
  }

  /** The extension's item; it is there once the extension is active. */
  status(text: string | RegExp): Locator {
    return this.page.locator('.part.statusbar .statusbar-item', { hasText: text });
  }

  async clickStatus(text: string | RegExp): Promise<void> {
    await this.status(text).locator('a').first().click();
  }

  /** Runs a command by its name in the palette: "Category: Title". */
  async command(label: string): Promise<void> {
    const box = this.quickInput();
    await until(`the command palette for ${label}`, WAIT, async () => {
      await this.page.keyboard.press('F1');
      return appears(box, 2000);
    });
    await box.fill(`>${label}`);
    const exact = this.page.locator('.quick-input-widget .monaco-list-row', {
      has: this.page.locator('.label-name', { hasText: label }),
    });
    await exact.first().click({ timeout: WAIT });
  }

  quickInput(): Locator {
    return this.page.locator('.quick-input-widget:visible .quick-input-box input');
  }

  quickRows(): Locator {
    return this.page.locator('.quick-input-widget:visible .monaco-list-row');
  }

  async pickRow(text: string): Promise<void> {
    await this.quickRows().filter({ hasText: text }).first().click({ timeout: WAIT });
  }

  toast(text: string): Locator {
    return this.page.locator('.notifications-toasts .notification-toast', { hasText: text });
  }

  async pressToast(text: string, button: string): Promise<void> {
    const toast = this.toast(text).first();
    await toast.waitFor({ timeout: WAIT });
    const buttons = toast.locator('.notification-list-item-buttons-container .monaco-button');
    await buttons.getByText(button, { exact: true }).click();
  }

  /** Closes a notification without an answer. */
  async closeToast(text: string): Promise<void> {
    const toast = this.toast(text).first();
    await toast.hover();
    await toast.locator('.codicon-notifications-clear').click();
  }

  /** A row of the view "Grants", which must be open. */
  grant(text: string): Locator {
    return this.page.locator('.part.sidebar .monaco-list-row', { hasText: text });
  }

  async showGrants(): Promise<void> {
    await this.command('Cordon: Show Grants');
    await this.page.locator('.part.sidebar').getByText('Grants').first().waitFor({ timeout: WAIT });
  }

  /** Presses the row's trash icon, and waits until the row is gone. */
  async revokeGrant(text: string): Promise<void> {
    const row = this.grant(text).first();
    await row.hover();
    await row.locator('.action-label.codicon-trash').click();
    await row.waitFor({ state: 'detached', timeout: WAIT });
  }

  /**
   * Opens a terminal by its profile's title in VS Code's own list. `isOpen` says when it runs: focusing the terminal before
   * that would open an ordinary one.
   */
  async openProfile(
    title: string,
    refreshProfiles: () => void,
    isOpen: () => boolean,
  ): Promise<void> {
    // On a busy machine VS Code makes that list before it knows the extensions and keeps it; a change of any profile
    // setting makes it anew.
    await until(`the profile ${title}`, START, async () => {
      await this.command('Create New Terminal (With Profile)');
      await this.quickRows().first().waitFor({ timeout: WAIT });
      const row = this.quickRows().filter({ hasText: title }).first();
      if (await appears(row, 2000)) {
        await row.click();
        return true;
      }
      await this.page.keyboard.press('Escape');
      refreshProfiles();
      return false;
    });
    await until(`a terminal of the profile ${title}`, WAIT, isOpen);
    // VS Code does not show the panel for a terminal of a contributed profile.
    await this.command('Terminal: Focus Terminal');
    await this.terminalReady();
  }

  /** What the active terminal shows. */
  async terminalText(): Promise<string> {
    const rows = await this.page
      .locator('.terminal-wrapper.active .xterm-rows > div')
      .allTextContents();
    return rows
      .map((row) => row.replaceAll('\u00a0', ' ').trimEnd())
      .join('\n')
      .trimEnd();
  }

  async terminalReady(): Promise<void> {
    await until(
      'a prompt in the terminal',
      WAIT,
      async () => (await this.terminalText()).length > 0,
    );
  }

  async type(line: string): Promise<void> {
    await this.page.locator('.terminal-wrapper.active .xterm textarea').focus();
    await this.page.keyboard.type(line);
    await this.page.keyboard.press('Enter');
  }

  /** Waits for text in the terminal. What was typed is there too, so wait for something that only the output has. */
  async terminalShows(text: string, milliseconds = WAIT): Promise<void> {
    await until(`"${text}" in the terminal`, milliseconds, async () =>
      (await this.terminalText()).includes(text),
    ).catch(async (error: unknown) => {
      throw new Error(`${String(error)}\nIt shows:\n${await this.terminalText()}`, {
        cause: error,
      });
    });
  }

  async clearTerminal(): Promise<void> {
    await this.type('clear');
    await until(
      'an empty terminal',
      WAIT,
      async () => (await this.terminalText()).split('\n').length <= 2,
    );
  }

  /** VS Code's own reload: it saves which panels are open, which the browser's might not wait for. */
  async reload(): Promise<void> {
    const loaded = this.page.waitForEvent('load', { timeout: START });
    await this.command('Developer: Reload Window');
    await loaded;
    await this.page.locator('.monaco-workbench .part.statusbar').waitFor({ timeout: START });
  }

  async screenshot(name: string): Promise<void> {
    await this.page.screenshot({ path: artifactPath(`${name}.png`) });
  }
}

/** Where pictures of failures stay. */
export function artifactPath(name: string): string {
  const folder = process.env['CORDON_ARTIFACTS'] ?? path.join(ROOT, 'build', 'artifacts');
  mkdirSync(folder, { recursive: true });
  return path.join(folder, name);
}

async function appears(locator: Locator, milliseconds: number): Promise<boolean> {
  return locator.waitFor({ timeout: milliseconds }).then(
    () => true,
    () => false, // only a timeout rejects here
  );
}
