// schema → `contributes.configuration` of package.json. `npm run generate` writes it there, a test compares.

import * as z from 'zod/mini';

import { settingsSchema, settingWords } from './schema.js';

export interface Configuration {
  readonly title: string;
  readonly properties: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

interface JsonSchema {
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly description?: string;
  readonly enumDescriptions?: readonly string[];
  readonly [keyword: string]: unknown;
}

/** What VS Code shows as the settings page of the extension. */
export function settingsConfiguration(): Configuration {
  const schema = z.toJSONSchema(settingsSchema(), { metadata: settingWords }) as JsonSchema;
  const properties = Object.entries(schema.properties ?? {}).flatMap(
    ([section, { properties: keys = {} }]) =>
      Object.entries(keys).map(
        ([key, value]) => [`cordon.${section}.${key}`, property(value)] as const,
      ),
  );
  return {
    title: 'Cordon',
    properties: Object.fromEntries(
      properties.map(([key, value], order) => [key, { order, ...value }]),
    ),
  };
}

function property({
  description,
  enumDescriptions,
  ...keywords
}: JsonSchema): Record<string, unknown> {
  return {
    ...keywords,
    // A folder's own value is read as its own layer, so that it can narrow; it never replaces the user's.
    scope: 'resource',
    ...(description === undefined ? {} : { markdownDescription: description }),
    ...(enumDescriptions === undefined ? {} : { markdownEnumDescriptions: enumDescriptions }),
  };
}
