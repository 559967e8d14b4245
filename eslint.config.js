import { defineConfig } from 'eslint/config';
import regexp from 'eslint-plugin-regexp';
import tseslint from 'typescript-eslint';

export default defineConfig(
  { ignores: ['dist/**', 'coverage/**', 'node_modules/**'] },
  ...tseslint.configs.strictTypeChecked,
  {
    languageOptions: {
      parserOptions: {
        projectService: { allowDefaultProject: ['eslint.config.js'] },
        tsconfigRootDir: import.meta.dirname,
      },
    },
    rules: {
      '@typescript-eslint/no-non-null-assertion': 'off',
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
      '@typescript-eslint/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true }],
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_' }],
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': 'error',
      'no-restricted-exports': ['error', { restrictDefaultExports: { direct: true, named: true, defaultFrom: true } }],
    },
  },
  // The script of a report's page runs in a browser, as it stands.
  {
    files: ['templates/report/*.js'],
    extends: [tseslint.configs.disableTypeChecked],
    languageOptions: { sourceType: 'script', parserOptions: { projectService: false } },
  },
  // A pattern that takes quadratic time lets one host's text hold up a run. These two rules alone: the plugin's others are about style.
  {
    files: ['src/**', 'templates/report/*.js'],
    plugins: { regexp },
    rules: {
      'regexp/no-super-linear-backtracking': ['error', { report: 'potential' }],
      'regexp/no-super-linear-move': ['error', { report: 'potential' }],
    },
  },
  { files: ['src/**'], rules: { 'max-lines-per-function': ['error', { max: 60 }] } },
  // Prettier wraps no comments. A message stays one line of code, as wide as it is: an operator's search for its text finds it.
  {
    files: ['src/**'],
    rules: { 'max-len': ['error', { code: 100_000, comments: 120, ignoreUrls: true }] },
  },
  { files: ['*.config.ts', 'eslint.config.js'], rules: { 'no-restricted-exports': 'off' } },
  // ssh2 accepts any host key unless it is told otherwise: one wrapper, src/ssh/ssh2.ts, makes clients of it;
  // ssh-keys.ts and ssh-seed.ts beside it only read keys.
  {
    files: ['src/**'],
    ignores: ['src/ssh/ssh2.ts'],
    rules: {
      'no-restricted-syntax': [
        'error',
        {
          selector: "NewExpression[callee.property.name='Client']",
          message: 'only src/ssh/ssh2.ts makes SSH clients',
        },
      ],
    },
  },
  {
    files: ['src/**'],
    ignores: ['src/ssh/ssh2.ts', 'src/ssh/ssh2-keys.ts', 'src/ssh/ssh2-keys.ts'],
    rules: {
      'no-restricted-imports': [
        'error',
        { paths: [{ name: 'ssh2', message: 'only src/ssh/ssh2.ts may import ssh2' }] },
      ],
    },
  },
);
