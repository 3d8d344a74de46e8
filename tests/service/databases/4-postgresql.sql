CREATE TABLE public.ids (
    id uuid NOT NULL,
    checksum integer NOT NULL
);
CREATE TABLE public.ids_1 (
)
INHERITS (public.ids);
CREATE TABLE public.ids_2 (
)
INHERITS (public.ids);
CREATE TABLE public.lease (
    one boolean NOT NULL,
    holder bytea NOT NULL,
    pid integer NOT NULL,
    until timestamp with time zone NOT NULL,
    CONSTRAINT lease_one_check CHECK (one)
);
CREATE TABLE public.meta (
    one boolean NOT NULL,
    deployment text NOT NULL,
    secret bytea NOT NULL,
    paused boolean NOT NULL,
    plan_wanted bigint NOT NULL,
    forgotten bigint NOT NULL,
    schema integer NOT NULL,
    checksum bytea NOT NULL,
    CONSTRAINT meta_one_check CHECK (one)
);
CREATE TABLE public.outcomes (
    name text NOT NULL,
    count bigint NOT NULL
);
CREATE TABLE public.plans (
    version bigint NOT NULL,
    users bigint NOT NULL,
    sums_digest text NOT NULL,
    published_hour bigint NOT NULL,
    assignments text NOT NULL,
    checksum bytea NOT NULL
);
CREATE TABLE public.sums (
    version bigint NOT NULL,
    assignment integer NOT NULL,
    users bigint NOT NULL,
    tally bytea NOT NULL,
    checksum bytea NOT NULL
);
INSERT INTO public.ids_1 VALUES ('b2681df9-eb55-300f-3310-645823b55112', -393934331);
INSERT INTO public.ids_1 VALUES ('1869e43b-fe38-4179-c3c4-d1793a537f2e', 918618853);
INSERT INTO public.ids_1 VALUES ('4f1be477-d423-3080-4385-e45a2f4a8eeb', -1902277790);
INSERT INTO public.ids_1 VALUES ('4d2784b9-6b9f-18b3-c97e-4b8afffe9048', -1477854146);
INSERT INTO public.ids_1 VALUES ('6be97613-284c-2a28-86b1-c5be0a93a4a4', 31285029);
INSERT INTO public.ids_1 VALUES ('f358558b-04ee-7ee8-9c85-6df67cfb3745', 2140896654);
INSERT INTO public.ids_1 VALUES ('61ea9403-1a37-60ad-dc86-0ccaac76a6af', -237844230);
INSERT INTO public.ids_1 VALUES ('6e7734cf-58a1-9c1c-beb8-cc44958e1d32', -877328139);
INSERT INTO public.ids_1 VALUES ('c91debe9-d1d1-3839-af58-a5bcca10fe6f', -163378971);
INSERT INTO public.ids_1 VALUES ('c86704d3-1ec2-75ad-41de-63153de4407e', -1478533336);
INSERT INTO public.ids_1 VALUES ('0586a3f3-6682-9b00-7887-4c27e1b4aa2c', -1101539591);
INSERT INTO public.ids_1 VALUES ('967997c6-dfd0-8a44-fd71-5d33bc136c42', 1036454985);
INSERT INTO public.ids_1 VALUES ('b3b89e91-4b6d-6c05-7f36-e5f502590cd9', -922239975);
INSERT INTO public.ids_1 VALUES ('f6780be1-26be-3727-150d-a3ebf4d0fe63', 523579387);
INSERT INTO public.ids_1 VALUES ('5355a796-c628-b788-bdb6-60a00da33862', -691916862);
INSERT INTO public.ids_1 VALUES ('55c6c299-165a-2f5c-e103-8a635fc883b2', 880723924);
INSERT INTO public.ids_1 VALUES ('d022a4f1-a5e2-d6a2-450b-a23ed8d54c6e', -755142372);
INSERT INTO public.ids_1 VALUES ('92f70c89-25b6-1c1e-270c-3e1e23bfc0f7', 2107688066);
INSERT INTO public.ids_1 VALUES ('a4670042-0a13-8630-5530-317711bcab86', -1056865413);
INSERT INTO public.ids_1 VALUES ('e4384d82-bec4-001b-b3bd-ac9523d9d000', 77261351);
INSERT INTO public.ids_1 VALUES ('e657338f-ad94-fe1d-2b0c-b1b67a0977a0', 1182183389);
INSERT INTO public.ids_1 VALUES ('97d71cd4-45a4-77f9-0279-256108b6eb9a', -1209690172);
INSERT INTO public.ids_1 VALUES ('453bfa8b-8c7b-ca97-5713-decacc0d2f78', 1166789009);
INSERT INTO public.ids_1 VALUES ('92b2bd98-6f49-f9cd-64ec-2be3b2b1f3d2', 1583072763);
INSERT INTO public.ids_1 VALUES ('5cbde99e-0919-750a-8a4f-b96202610683', 1908586190);
INSERT INTO public.ids_1 VALUES ('4d3b23c5-66d9-04fa-a920-d0cfdc41589d', 2052899514);
INSERT INTO public.ids_1 VALUES ('acf0f1dd-ea2e-8b3e-0e8e-33cb04b11140', -445212443);
INSERT INTO public.ids_1 VALUES ('f1f3441c-4b51-2fab-84ea-fcfabf7f40e7', -2046902521);
INSERT INTO public.ids_1 VALUES ('5be46310-d01d-dfd6-8d3a-4f2f78be2e16', -992836278);
INSERT INTO public.ids_1 VALUES ('66a0134a-931f-370f-ff08-7cae10f08435', -45003453);
INSERT INTO public.ids_1 VALUES ('7a1c1249-7300-b4ac-7db5-dde85e443377', -702763139);
INSERT INTO public.ids_1 VALUES ('dedf52de-33e5-e025-382f-e1f5931fbb35', 1276198759);
INSERT INTO public.ids_1 VALUES ('53bcb45d-4ca3-53c8-40d6-0286255a46a0', 1683541694);
INSERT INTO public.ids_1 VALUES ('98ab553d-3924-8c0c-5f5e-40bd3c84bc63', -173619284);
INSERT INTO public.ids_1 VALUES ('a2dfd4d3-01b2-7481-ef0c-411ce6e6dcd2', 951885520);
INSERT INTO public.ids_1 VALUES ('c17bb408-01b4-ef4b-996b-197b759a8202', 540042527);
INSERT INTO public.ids_1 VALUES ('f1cf5aed-fc5e-b440-143e-d9c8364bbe15', 15002693);
INSERT INTO public.ids_1 VALUES ('546eb118-dc48-c10a-193b-13c8837cd04b', 721862987);
INSERT INTO public.ids_1 VALUES ('f78b059e-75d3-2631-ca5b-ad819ed5a88c', -1311581263);
INSERT INTO public.ids_1 VALUES ('f49feed1-bffd-19c0-55ef-130e853c1093', -830751819);
INSERT INTO public.ids_1 VALUES ('2c2cca9e-d9c2-0ea0-d617-0781f9621c72', -534504274);
INSERT INTO public.ids_1 VALUES ('e8073647-1482-5973-effd-ce89133e0e7d', 68774833);
INSERT INTO public.ids_1 VALUES ('efde1805-31d4-46db-fe49-3fd5635f2661', 262002497);
INSERT INTO public.ids_1 VALUES ('01835ac9-95ff-929a-c007-8128bd81d51c', 1233942923);
INSERT INTO public.ids_1 VALUES ('fc303832-9c64-21fb-1594-f92b06e1607e', -797996954);
INSERT INTO public.ids_1 VALUES ('3fca9e71-4098-9562-58d4-85b1080343f9', -1385840662);
INSERT INTO public.ids_1 VALUES ('d3f5e109-9592-ab85-fcf5-b2b3cf434a94', 226286405);
INSERT INTO public.ids_1 VALUES ('a72a900e-896a-5a37-dbf5-3d4215b6c719', 616584476);
INSERT INTO public.ids_1 VALUES ('a38d1c9d-4f69-9713-ddae-50d44097c171', 2044122694);
INSERT INTO public.ids_1 VALUES ('215d8b36-f5f7-2c70-a0fa-757c0cd969e4', -1819348550);
INSERT INTO public.ids_1 VALUES ('3c8d67d9-651e-0d98-7cc6-f9a444e42f74', -1454959462);
INSERT INTO public.ids_1 VALUES ('98b8f772-374b-6be2-e434-b285ba1f08ae', 672147768);
INSERT INTO public.ids_1 VALUES ('2bf0711b-a557-197a-dc5d-c31a670a34f5', -1078557563);
INSERT INTO public.ids_1 VALUES ('ef0c4a39-dd8c-8d78-f863-c491f22d9ab1', 660596148);
INSERT INTO public.ids_1 VALUES ('c85b8bc6-ace5-02fa-3c0e-7251bc1a4de8', -1372174254);
INSERT INTO public.ids_1 VALUES ('2ee85261-6a86-4164-a419-2f0acfc8ef2f', 1971509149);
INSERT INTO public.ids_1 VALUES ('39e4c06e-d413-c0ad-5811-57ab4d8afbf1', -1879794134);
INSERT INTO public.ids_1 VALUES ('b98e424e-79a4-f08f-82d5-9942017b6a26', 473875629);
INSERT INTO public.ids_1 VALUES ('53f182ba-11fb-2bfe-e448-1a309f9e56e1', 432358234);
INSERT INTO public.ids_1 VALUES ('c1586bd6-4803-f942-6471-fb1b63ea694c', 1731564136);
INSERT INTO public.ids_2 VALUES ('b0b91aa3-6558-ec4c-9741-33547b3f750e', 2015812308);
INSERT INTO public.ids_2 VALUES ('2c10782e-c392-e1fa-04c7-f7bcb5223c98', 71768627);
INSERT INTO public.ids_2 VALUES ('7a0fd8e6-06e2-0a4a-5e41-c3397141c052', 1479048489);
INSERT INTO public.ids_2 VALUES ('dd357444-18ae-531d-5f9c-d2bbe733ff86', 1260225599);
INSERT INTO public.ids_2 VALUES ('ad694fd7-af5e-8a4e-c9f1-76b09bbeb4d2', -1113197333);
INSERT INTO public.ids_2 VALUES ('3c3f9df0-95d3-e3a7-2a18-219eb7ca47d1', 874588309);
INSERT INTO public.ids_2 VALUES ('12728ccd-9da6-28a5-3545-092967ed0a38', 1312244731);
INSERT INTO public.ids_2 VALUES ('7ecabe86-e16e-cdec-448b-a86c9357c7dd', 2132441843);
INSERT INTO public.ids_2 VALUES ('d682a339-cfaa-227e-0411-1928577d593e', 1234883084);
INSERT INTO public.ids_2 VALUES ('9ed49626-603f-be85-9c47-6e0bf6f629fb', -8359539);
INSERT INTO public.ids_2 VALUES ('c4e9d754-147e-c35b-8962-66ba95978816', 1671987710);
INSERT INTO public.ids_2 VALUES ('1fa3dd3e-0ff9-cad1-d568-5099002d0496', -28345311);
INSERT INTO public.ids_2 VALUES ('aadfe2dd-79ae-a7f6-e936-23d478ece3fc', 1387554594);
INSERT INTO public.ids_2 VALUES ('6fb6d7f4-39ae-1a24-5311-942b52e8a945', 1896131713);
INSERT INTO public.ids_2 VALUES ('7adeafe6-d58c-b4bb-3908-45d86fe0e543', -1023712054);
INSERT INTO public.lease VALUES (true, '\x', 0, '-infinity');
INSERT INTO public.meta VALUES (true, '{"name": "test", "mechanism": "subset-selection", "epsilon": "0.5", "delta": "0", "learner": "private-ucb-vi", "failure_probability": "0.1", "epochs": "growth:0.1", "first_epoch": 40, "report_window_hours": 168, "certificate": {"share": "0.5", "confidence": "0.9"}, "structure": {"incumbent": [[0, 1, 0], [0, 1, 0], [0, 1, 0]]}, "format": 2, "shape": {"states": 3, "actions": 2, "horizon": 3, "step_dependent": false}, "randomizer": {"layout": "separate", "answers": 1, "reward": {"items": 7, "size": 3, "threshold": "10198853933911802222"}, "transition": {"items": 10, "size": 4, "threshold": "9659012886435617561"}, "worth": {"items": 2, "size": 1, "threshold": "11482347978973021681"}}, "labels": {"title": "", "states": ["state 0", "state 1", "state 2"], "actions": ["action 0", "action 1"], "reward": "reward"}}', '\x9be149267fbb6d8a013934e29b5230936662f793ff509aaad99d6f8ff21ffe18', false, 0, 0, 4, '\x2b6728c67c2d13288a8b38474ac3a462');
INSERT INTO public.outcomes VALUES ('duplicate', 1);
INSERT INTO public.outcomes VALUES ('malformed', 2);
INSERT INTO public.plans VALUES (1, 0, 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855', 498565, '[{"share":0.08333333333333333,"policy":[[0,0,0],[0,0,0],[0,0,0]],"questions":[{"kind":"reward","step":0}],"weights":[[1.0,1.0,1.0]]},{"share":0.08333333333333333,"policy":[[0,0,0],[0,0,0],[0,0,0]],"questions":[{"kind":"reward","step":1}],"weights":[[1.0,1.0,1.0]]},{"share":0.08333333333333333,"policy":[[0,0,0],[0,0,0],[0,0,0]],"questions":[{"kind":"reward","step":2}],"weights":[[1.0,1.0,1.0]]},{"share":0.125,"policy":[[0,0,0],[0,0,0],[0,0,0]],"questions":[{"kind":"transition","step":0}],"weights":[[1.0,1.0,1.0]]},{"share":0.125,"policy":[[0,0,0],[0,0,0],[0,0,0]],"questions":[{"kind":"transition","step":1}],"weights":[[1.0,1.0,1.0]]},{"share":0.25,"policy":[[0,0,0],[0,0,0],[0,0,0]],"questions":[{"kind":"worth","step":0}],"weights":[[1.0,1.0,1.0]]},{"share":0.25,"policy":[[0,1,0],[0,1,0],[0,1,0]],"questions":[{"kind":"worth","step":0}],"weights":[[1.0,1.0,1.0]]}]', '\xd01f85ada427598a95bd1fe0f481298d');
INSERT INTO public.plans VALUES (2, 60, 'b8a9ebb5748125f714d98b713f0578ec4059cd331978962c6d64f3ad18de95c7', 498565, '[{"share":0.08333333333333333,"policy":[[0,0,0],[0,0,0],[1,1,0]],"questions":[{"kind":"reward","step":0}],"weights":[[1.0,1.0,1.0]]},{"share":0.08333333333333333,"policy":[[0,0,0],[0,0,0],[1,1,0]],"questions":[{"kind":"reward","step":1}],"weights":[[1.0,1.0,1.0]]},{"share":0.08333333333333333,"policy":[[0,0,0],[0,0,0],[1,1,0]],"questions":[{"kind":"reward","step":2}],"weights":[[1.0,1.0,1.0]]},{"share":0.125,"policy":[[0,0,0],[0,0,0],[1,1,0]],"questions":[{"kind":"transition","step":0}],"weights":[[1.0,1.0,1.0]]},{"share":0.125,"policy":[[0,0,0],[0,0,0],[1,1,0]],"questions":[{"kind":"transition","step":1}],"weights":[[1.0,1.0,1.0]]},{"share":0.25,"policy":[[0,0,0],[0,0,0],[1,1,0]],"questions":[{"kind":"worth","step":0}],"weights":[[1.0,1.0,1.0]]},{"share":0.25,"policy":[[0,1,0],[0,1,0],[0,1,0]],"questions":[{"kind":"worth","step":0}],"weights":[[1.0,1.0,1.0]]}]', '\x241a04d6f4720f8caee16a0c7a5a85a5');
INSERT INTO public.sums VALUES (1, 0, 6, '\x0300000000000000040000000000000001000000000000000400000000000000010000000000000002000000000000000300000000000000', '\x2e8d00bc6fadb2da7a89173fe9927925');
INSERT INTO public.sums VALUES (1, 1, 2, '\x0100000000000000000000000000000000000000000000000100000000000000020000000000000000000000000000000200000000000000', '\x69421472d97bc4f7e19703bfad1fe068');
INSERT INTO public.sums VALUES (1, 2, 1, '\x0100000000000000000000000000000001000000000000000100000000000000000000000000000000000000000000000000000000000000', '\x98d10cb5f08e6e5da53d1b84c7419f78');
INSERT INTO public.sums VALUES (1, 3, 12, '\x0600000000000000030000000000000004000000000000000400000000000000050000000000000003000000000000000400000000000000070000000000000007000000000000000500000000000000', '\x52565fa02a7ef026492b5ff33b7ebffa');
INSERT INTO public.sums VALUES (1, 4, 3, '\x0100000000000000010000000000000002000000000000000100000000000000010000000000000002000000000000000200000000000000000000000000000000000000000000000200000000000000', '\x16ed9e4d3fad7c2f32a8a9ade87f62ce');
INSERT INTO public.sums VALUES (1, 5, 18, '\x06000000000000000c00000000000000', '\x37f856701c40b2fbae6f315d7c7fcf03');
INSERT INTO public.sums VALUES (1, 6, 18, '\x0b000000000000000700000000000000', '\x546527d582f39435b8ad87ba8977ff88');
INSERT INTO public.sums VALUES (2, 0, 0, '\x0000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000', '\xc1b601e2826d9cbf14476e1a0b0f0208');
INSERT INTO public.sums VALUES (2, 1, 1, '\x0100000000000000000000000000000000000000000000000000000000000000000000000000000001000000000000000100000000000000', '\xc549c5500a2ee66e2da475a8d0e083ff');
INSERT INTO public.sums VALUES (2, 2, 1, '\x0000000000000000000000000000000000000000000000000100000000000000000000000000000001000000000000000100000000000000', '\x1943fbc8424fe6f25d1f1f03df93841f');
INSERT INTO public.sums VALUES (2, 3, 4, '\x0000000000000000030000000000000004000000000000000300000000000000010000000000000000000000000000000100000000000000020000000000000000000000000000000200000000000000', '\x145f312f759ecd144479941e3f5079a7');
INSERT INTO public.sums VALUES (2, 4, 1, '\x0000000000000000000000000000000000000000000000000100000000000000000000000000000001000000000000000100000000000000010000000000000000000000000000000000000000000000', '\xcd0fc1a33cabd31fe4a6d06ff34a8bff');
INSERT INTO public.sums VALUES (2, 5, 5, '\x03000000000000000200000000000000', '\x32541365e5f3af59bb4168f4752a0e37');
INSERT INTO public.sums VALUES (2, 6, 3, '\x03000000000000000000000000000000', '\x5e2fe42e64708ea66720b632d90e8b3a');
ALTER TABLE ONLY public.ids_1
    ADD CONSTRAINT ids_1_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.ids_2
    ADD CONSTRAINT ids_2_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.lease
    ADD CONSTRAINT lease_pkey PRIMARY KEY (one);
ALTER TABLE ONLY public.meta
    ADD CONSTRAINT meta_pkey PRIMARY KEY (one);
ALTER TABLE ONLY public.outcomes
    ADD CONSTRAINT outcomes_pkey PRIMARY KEY (name);
ALTER TABLE ONLY public.plans
    ADD CONSTRAINT plans_pkey PRIMARY KEY (version);
ALTER TABLE ONLY public.sums
    ADD CONSTRAINT sums_pkey PRIMARY KEY (version, assignment);
