/**
 * `npm run docs:site [-- FOLDER]`: docs/ as a site with search, light and dark, in dist/site. VitePress is
 * installed beside the pages in one exact version: as a dependency it would slow every `npm ci`. It ends with an error for a link that leads nowhere.
 */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, posix, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { REPOSITORY } from '../../src/versions.ts';
import { filesIn } from '../../test/tools/files-in.ts';

const VITEPRESS = 'vitepress@1.6.4';
const root = fileURLToPath(new URL('../../', import.meta.url));
const out = resolve(process.argv[2] ?? join(root, 'dist/site'));

const PICTURE = /\.(?:png|svg)$/;

/** The order of the pages in the sidebar; a test holds it against docs/. */
export const SIDEBAR: Readonly<Record<string, readonly string[]>> = {
  Begin: ['getting-started', 'install', 'demo', 'coming-from', 'comparison'],
  Describe: ['inventory', 'topologies', 'networks', 'hosts', 'runtimes', 'binaries', 'charts', 'windows'],
  Operate: ['cli', 'changing-a-cluster', 'operations', 'upgrade', 'upgrade-removed', 'upgrade-faults', 'ci'],
  'Find out': ['troubleshooting', 'windows-troubleshooting', 'checks', 'refusals', 'report', 'runs'],
  Trust: ['security', 'reliability', 'performance'],
  'Build on it': ['how-it-works', 'library', 'lab', 'contributing', 'decisions/index'],
};

/** The anchor of a heading, as forges make it: the pages are read there, too. */
export const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(/\s/g, '-');

/** A link as the site needs it: what is no page of docs/ is in the repository. */
export function siteLink(page: string, link: string): string {
  if (/^[a-z]+:|^#/.test(link)) return link;
  const [path = '', anchor] = link.split('#');
  const target = posix.join('docs', posix.dirname(page), path);
  const isPage = target.startsWith('docs/') && target.endsWith('.md');
  if (isPage || PICTURE.test(target)) return link.replace(/(^|\/)README\.md/, '$1index.md');
  return `${REPOSITORY}/blob/main/${target}${anchor === undefined ? '' : `#${anchor}`}`;
}

/** A page without its comments, with the links of the site; code stays as it is. */
export function sitePage(page: string, text: string): string {
  const code: string[] = [];
  const put = (found: string): string => `\0${String(code.push(found) - 1)}\0`;
  return text
    .replaceAll(/^```[^]*?^```$/gm, put)
    .replaceAll(/`[^`\n]*`/g, put)
    .replaceAll(/<!--[^]*?-->\n?/g, '')
    .replaceAll(/\]\(([^)\s]+)\)/g, (_, link: string) => `](${siteLink(page, link)})`)
    .replaceAll(/\0(\d+)\0/g, (_, at: string) => code[Number(at)]!);
}

const titleOf = (text: string): string => /^# (.+)$/m.exec(text)?.[1]?.replaceAll('`', '') ?? '';

function build(): void {
  const work = mkdtempSync(join(tmpdir(), 'kbuild-site-'));
  try {
    const titles = new Map<string, string>();
    for (const page of filesIn('docs', '.md')) {
      const text = readFileSync(join(root, 'docs', page), 'utf8');
      const name = page.replace(/README\.md$/, 'index.md');
      titles.set(name.replace(/\.md$/, ''), titleOf(text));
      mkdirSync(dirname(join(work, name)), { recursive: true });
      writeFileSync(join(work, name), sitePage(page, text));
    }
    for (const picture of filesIn('docs', '').filter((name) => PICTURE.test(name)))
      cpSync(join(root, 'docs', picture), join(work, picture));
    const sidebar = Object.entries(SIDEBAR).map(([text, names]) => ({
      text,
      items: names.map((name) => ({ text: titles.get(name), link: `/${name.replace(/index$/, '')}` })),
    }));
    const version = (JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { readonly version: string })
      .version;
    const config = {
      title: 'kbuild',
      description: 'Production Kubernetes clusters with kubeadm, over SSH',
      themeConfig: {
        sidebar,
        nav: [{ text: version, link: `${REPOSITORY}/blob/main/CHANGELOG.md` }],
        search: { provider: 'local' },
        outline: [2, 3],
        socialLinks: [{ icon: 'git', link: REPOSITORY }],
      },
    };
    mkdirSync(join(work, '.vitepress'));
    writeFileSync(
      join(work, '.vitepress/config.mjs'),
      `// Vue takes braces for its own, also in code that is no block.
const plain = (md) => {
  for (const rule of ['text', 'code_inline']) {
    const usual = md.renderer.rules[rule];
    md.renderer.rules[rule] = (...given) => usual(...given).replaceAll('{{', '&#123;&#123;');
  }
};
const markdown = {
  html: false, attrs: { disable: true }, config: plain, anchor: { slugify: ${anchorOf.toString()} },
};
export default { ...${JSON.stringify(config)}, outDir: ${JSON.stringify(out)}, markdown };\n`,
    );
    // Pages import vue: it must be found from where they are, which is not so with npx.
    writeFileSync(join(work, 'package.json'), '{ "private": true, "type": "module" }\n');
    const run = (...command: readonly [string, ...string[]]) =>
      execFileSync(command[0], command.slice(1), { cwd: work, stdio: 'inherit' });
    run('npm', 'install', '--no-audit', '--no-fund', '--silent', VITEPRESS);
    run('node_modules/.bin/vitepress', 'build', work);
    console.log(`${String(titles.size)} pages in ${out}`);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

if (basename(process.argv[1] ?? '') === 'site.ts') build();
