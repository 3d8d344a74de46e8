CREATE TABLE public.ids (
    id bytea NOT NULL,
    version bigint NOT NULL,
    checksum bytea NOT NULL
);
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
INSERT INTO public.ids VALUES ('\xb2681df9eb55300f3310645823b55112', 1, '\xe8850a05');
INSERT INTO public.ids VALUES ('\x1869e43bfe384179c3c4d1793a537f2e', 1, '\x36c102e5');
INSERT INTO public.ids VALUES ('\x4f1be477d42330804385e45a2f4a8eeb', 1, '\x8e9d8b62');
INSERT INTO public.ids VALUES ('\x4d2784b96b9f18b3c97e4b8afffe9048', 1, '\xa7e9bc3e');
INSERT INTO public.ids VALUES ('\x6be97613284c2a2886b1c5be0a93a4a4', 1, '\x01dd5f25');
INSERT INTO public.ids VALUES ('\xf358558b04ee7ee89c856df67cfb3745', 1, '\x7f9b7d8e');
INSERT INTO public.ids VALUES ('\x61ea94031a3760addc860ccaac76a6af', 1, '\xf1d2c8fa');
INSERT INTO public.ids VALUES ('\x6e7734cf58a19c1cbeb8cc44958e1d32', 1, '\xcbb508f5');
INSERT INTO public.ids VALUES ('\xc91debe9d1d13839af58a5bcca10fe6f', 1, '\xf64308e5');
INSERT INTO public.ids VALUES ('\xc86704d31ec275ad41de63153de4407e', 1, '\xa7df5f28');
INSERT INTO public.ids VALUES ('\x0586a3f366829b0078874c27e1b4aa2c', 1, '\xbe57d6f9');
INSERT INTO public.ids VALUES ('\x967997c6dfd08a44fd715d33bc136c42', 1, '\x3dc70c49');
INSERT INTO public.ids VALUES ('\xb3b89e914b6d6c057f36e5f502590cd9', 1, '\xc907bc19');
INSERT INTO public.ids VALUES ('\xf6780be126be3727150da3ebf4d0fe63', 1, '\x1f352ffb');
INSERT INTO public.ids VALUES ('\x5355a796c628b788bdb660a00da33862', 1, '\xd6c22fc2');
INSERT INTO public.ids VALUES ('\x55c6c299165a2f5ce1038a635fc883b2', 1, '\x347ec7d4');
INSERT INTO public.ids VALUES ('\xd022a4f1a5e2d6a2450ba23ed8d54c6e', 1, '\xd2fd711c');
INSERT INTO public.ids VALUES ('\x92f70c8925b61c1e270c3e1e23bfc0f7', 1, '\x7da0c482');
INSERT INTO public.ids VALUES ('\xa46700420a1386305530317711bcab86', 1, '\xc101837b');
INSERT INTO public.ids VALUES ('\xe4384d82bec4001bb3bdac9523d9d000', 1, '\x049aea27');
INSERT INTO public.ids VALUES ('\xe657338fad94fe1d2b0cb1b67a0977a0', 1, '\x4676afdd');
INSERT INTO public.ids VALUES ('\x97d71cd445a477f90279256108b6eb9a', 1, '\xb7e597c4');
INSERT INTO public.ids VALUES ('\x453bfa8b8c7bca975713decacc0d2f78', 1, '\x458bc991');
INSERT INTO public.ids VALUES ('\x92b2bd986f49f9cd64ec2be3b2b1f3d2', 1, '\x5e5bc5fb');
INSERT INTO public.ids VALUES ('\x5cbde99e0919750a8a4fb96202610683', 1, '\x71c2b6ce');
INSERT INTO public.ids VALUES ('\x4d3b23c566d904faa920d0cfdc41589d', 1, '\x7a5cc2ba');
INSERT INTO public.ids VALUES ('\xacf0f1ddea2e8b3e0e8e33cb04b11140', 1, '\xe57698e5');
INSERT INTO public.ids VALUES ('\xf1f3441c4b512fab84eafcfabf7f40e7', 1, '\x85febf07');
INSERT INTO public.ids VALUES ('\x5be46310d01ddfd68d3a4f2f78be2e16', 1, '\xc4d2854a');
INSERT INTO public.ids VALUES ('\x66a0134a931f370fff087cae10f08435', 1, '\xfd514d43');
INSERT INTO public.ids VALUES ('\x7a1c12497300b4ac7db5dde85e443377', 1, '\xd61caf7d');
INSERT INTO public.ids VALUES ('\xdedf52de33e5e025382fe1f5931fbb35', 1, '\x4c113f67');
INSERT INTO public.ids VALUES ('\x53bcb45d4ca353c840d60286255a46a0', 1, '\x6458cebe');
INSERT INTO public.ids VALUES ('\x98ab553d39248c0c5f5e40bd3c84bc63', 1, '\xf5a6c7ac');
INSERT INTO public.ids VALUES ('\xa2dfd4d301b27481ef0c411ce6e6dcd2', 1, '\x38bc9ed0');
INSERT INTO public.ids VALUES ('\xc17bb40801b4ef4b996b197b759a8202', 1, '\x2030651f');
INSERT INTO public.ids VALUES ('\xf1cf5aedfc5eb440143ed9c8364bbe15', 1, '\x00e4ec45');
INSERT INTO public.ids VALUES ('\x546eb118dc48c10a193b13c8837cd04b', 1, '\x2b06c14b');
INSERT INTO public.ids VALUES ('\xf78b059e75d32631ca5bad819ed5a88c', 1, '\xb1d2dbb1');
INSERT INTO public.ids VALUES ('\xf49feed1bffd19c055ef130e853c1093', 1, '\xce7bbbb5');
INSERT INTO public.ids VALUES ('\x2c2cca9ed9c20ea0d6170781f9621c72', 1, '\xe0241cae');
INSERT INTO public.ids VALUES ('\xe807364714825973effdce89133e0e7d', 1, '\x04196bb1');
INSERT INTO public.ids VALUES ('\xefde180531d446dbfe493fd5635f2661', 1, '\x0f9dd741');
INSERT INTO public.ids VALUES ('\x01835ac995ff929ac0078128bd81d51c', 1, '\x498c798b');
INSERT INTO public.ids VALUES ('\xfc3038329c6421fb1594f92b06e1607e', 1, '\xd06f8866');
INSERT INTO public.ids VALUES ('\x3fca9e714098956258d485b1080343f9', 1, '\xad65bfea');
INSERT INTO public.ids VALUES ('\xd3f5e1099592ab85fcf5b2b3cf434a94', 1, '\x0d7cdb45');
INSERT INTO public.ids VALUES ('\xa72a900e896a5a37dbf53d4215b6c719', 1, '\x24c0551c');
INSERT INTO public.ids VALUES ('\xa38d1c9d4f699713ddae50d44097c171', 1, '\x79d6d646');
INSERT INTO public.ids VALUES ('\x215d8b36f5f72c70a0fa757c0cd969e4', 1, '\x938ef1ba');
INSERT INTO public.ids VALUES ('\x3c8d67d9651e0d987cc6f9a444e42f74', 1, '\xa947149a');
INSERT INTO public.ids VALUES ('\x98b8f772374b6be2e434b285ba1f08ae', 1, '\x28102938');
INSERT INTO public.ids VALUES ('\x2bf0711ba557197adc5dc31a670a34f5', 1, '\xbfb68485');
INSERT INTO public.ids VALUES ('\xef0c4a39dd8c8d78f863c491f22d9ab1', 1, '\x275fe5b4');
INSERT INTO public.ids VALUES ('\xc85b8bc6ace502fa3c0e7251bc1a4de8', 1, '\xae364852');
INSERT INTO public.ids VALUES ('\x2ee852616a864164a4192f0acfc8ef2f', 1, '\x7582d79d');
INSERT INTO public.ids VALUES ('\x39e4c06ed413c0ad581157ab4d8afbf1', 1, '\x8ff49e2a');
INSERT INTO public.ids VALUES ('\xb98e424e79a4f08f82d59942017b6a26', 1, '\x1c3ec4ad');
INSERT INTO public.ids VALUES ('\x53f182ba11fb2bfee4481a309f9e56e1', 1, '\x19c5435a');
INSERT INTO public.ids VALUES ('\xc1586bd64803f9426471fb1b63ea694c', 1, '\x67359268');
INSERT INTO public.ids VALUES ('\xb0b91aa36558ec4c974133547b3f750e', 2, '\x7826dad4');
INSERT INTO public.ids VALUES ('\x2c10782ec392e1fa04c7f7bcb5223c98', 2, '\x04471a33');
INSERT INTO public.ids VALUES ('\x7a0fd8e606e20a4a5e41c3397141c052', 2, '\x58287d29');
INSERT INTO public.ids VALUES ('\xdd35744418ae531d5f9cd2bbe733ff86', 2, '\x4b1d843f');
INSERT INTO public.ids VALUES ('\xad694fd7af5e8a4ec9f176b09bbeb4d2', 2, '\xbda5f4eb');
INSERT INTO public.ids VALUES ('\x3c3f9df095d3e3a72a18219eb7ca47d1', 2, '\x34212895');
INSERT INTO public.ids VALUES ('\x12728ccd9da628a53545092967ed0a38', 2, '\x4e3743fb');
INSERT INTO public.ids VALUES ('\x7ecabe86e16ecdec448ba86c9357c7dd', 2, '\x7f1a7af3');
INSERT INTO public.ids VALUES ('\xd682a339cfaa227e04111928577d593e', 2, '\x499ad20c');
INSERT INTO public.ids VALUES ('\x9ed49626603fbe859c476e0bf6f629fb', 2, '\xff80718d');
INSERT INTO public.ids VALUES ('\xc4e9d754147ec35b896266ba95978816', 2, '\x63a881fe');
INSERT INTO public.ids VALUES ('\x1fa3dd3e0ff9cad1d5685099002d0496', 2, '\xfe4f7c21');
INSERT INTO public.ids VALUES ('\xaadfe2dd79aea7f6e93623d478ece3fc', 2, '\x52b46722');
INSERT INTO public.ids VALUES ('\x6fb6d7f439ae1a245311942b52e8a945', 2, '\x7104ac81');
INSERT INTO public.ids VALUES ('\x7adeafe6d58cb4bb390845d86fe0e543', 2, '\xc2fb64ca');
INSERT INTO public.lease VALUES (true, '\x', 0, '-infinity');
INSERT INTO public.meta VALUES (true, '{"name": "test", "mechanism": "subset-selection", "epsilon": "0.5", "delta": "0", "learner": "private-ucb-vi", "failure_probability": "0.1", "epochs": "growth:0.1", "first_epoch": 40, "report_window_hours": 168, "certificate": {"share": "0.5", "confidence": "0.9"}, "structure": {"incumbent": [[0, 1, 0], [0, 1, 0], [0, 1, 0]]}, "format": 2, "shape": {"states": 3, "actions": 2, "horizon": 3, "step_dependent": false}, "randomizer": {"layout": "separate", "answers": 1, "reward": {"items": 7, "size": 3, "threshold": "10198853933911802222"}, "transition": {"items": 10, "size": 4, "threshold": "9659012886435617561"}, "worth": {"items": 2, "size": 1, "threshold": "11482347978973021681"}}, "labels": {"title": "", "states": ["state 0", "state 1", "state 2"], "actions": ["action 0", "action 1"], "reward": "reward"}}', '\x9be149267fbb6d8a013934e29b5230936662f793ff509aaad99d6f8ff21ffe18', false, 0, 0, 3, '\x2b6728c67c2d13288a8b38474ac3a462');
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
ALTER TABLE ONLY public.ids
    ADD CONSTRAINT ids_pkey PRIMARY KEY (id);
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
