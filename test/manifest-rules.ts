/**
 * What Slack's published manifest schema (slackapi/manifest-schema, 2.0.0) says of the parts that our manifest has: which
 * keys there are, which must be there, and how long each may be. Stricter where Slack refuses later: Socket Mode without
 * addresses, colours as `#rrggbb`.
 */
import {z} from 'zod';

const text = (most: number) => z.string().min(1).max(most);
const names = z.array(text(50)).refine((all) => new Set(all).size === all.length, 'names one twice');

export const manifestRules = z.strictObject({
  _metadata: z.strictObject({major_version: z.literal(2), minor_version: z.int().optional()}),
  display_information: z.strictObject({
    name: text(35),
    description: text(140).optional(),
    background_color: z
      .string()
      .regex(/^#[0-9a-fA-F]{6}$/)
      .optional(),
    long_description: z.string().min(175).max(4_000).optional(),
  }),
  features: z.strictObject({
    app_home: z
      .strictObject({
        home_tab_enabled: z.boolean(),
        messages_tab_enabled: z.boolean(),
        messages_tab_read_only_enabled: z.boolean(),
      })
      .optional(),
    bot_user: z.strictObject({display_name: text(80), always_online: z.boolean().optional()}),
    slash_commands: z
      .array(
        z.strictObject({
          command: z.string().regex(/^\//).min(2).max(32),
          description: text(2_000),
          usage_hint: text(1_000).optional(),
          should_escape: z.boolean().optional(),
        }),
      )
      .min(1)
      .max(50),
  }),
  oauth_config: z.strictObject({
    scopes: z.strictObject({bot: names.max(255), bot_optional: names.max(255).optional()}),
  }),
  settings: z.strictObject({
    event_subscriptions: z.strictObject({bot_events: names.max(100)}),
    interactivity: z.strictObject({is_enabled: z.boolean()}),
    org_deploy_enabled: z.boolean(),
    socket_mode_enabled: z.literal(true),
    token_rotation_enabled: z.boolean(),
  }),
});
