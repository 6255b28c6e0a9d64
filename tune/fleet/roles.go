package fleet

import (
	"slices"

	"github.com/nats-io/nats-server/v2/server"
)

// The streams of the buckets.
const (
	agentsStream   = "KV_" + agentsBucket
	searchesStream = "KV_" + searchesBucket
	problemsStream = "OBJ_" + problemsBucket
)

// agentPermissions are the subjects of a user for agents. An agent announces its devices, takes work and sends results. It
// reads searches and problems, and has no right to announce a search, to store a problem or to publish work.
//
// docs/fleet/server.conf has the same lists, and a test compares them.
func agentPermissions() *server.Permissions {
	return permissions(
		slices.Concat(
			[]string{resultSubjects + "*", "$KV." + agentsBucket + ".>", "$JS.ACK." + workStream + ".>"},
			[]string{"$JS.API.CONSUMER.INFO." + workStream + ".*", "$JS.API.CONSUMER.MSG.NEXT." + workStream + ".*"},
			reading(searchesStream, problemsStream),
		),
		bestSubjects+"*", measureSubjects+"*",
	)
}

// searchPermissions are the subjects of a user for searches. A search announces itself, stores its problem, publishes work
// and reads results. It reads the announcements of agents, and has no right to publish results or announcements of devices.
func searchPermissions() *server.Permissions {
	return permissions(
		slices.Concat(
			[]string{workSubjects + "*", bestSubjects + "*", measureSubjects + "*", "$KV." + searchesBucket + ".>", "$O." + problemsBucket + ".>"},
			[]string{"$JS.API.CONSUMER.*." + workStream + ".>", "$JS.API.STREAM.PURGE." + workStream},
			[]string{"$JS.API.CONSUMER.*." + resultStream + ".>", "$JS.API.CONSUMER.MSG.NEXT." + resultStream + ".>"},
			reading(agentsStream, problemsStream),
		),
	)
}

// reading are the subjects for reading buckets.
func reading(streams ...string) (subjects []string) {
	for _, name := range streams {
		subjects = append(subjects, "$JS.API.CONSUMER.*."+name+".>", "$JS.API.DIRECT.GET."+name+".>", "$JS.FC."+name+".>")
	}
	return subjects
}

// permissions are those that both roles have, with others. Both may make the streams that are missing.
func permissions(publish []string, subscribe ...string) *server.Permissions {
	publish = append(publish, "$JS.API.INFO")
	for _, name := range []string{workStream, resultStream, agentsStream, searchesStream, problemsStream} {
		publish = append(publish, "$JS.API.STREAM.CREATE."+name, "$JS.API.STREAM.INFO."+name)
	}
	return &server.Permissions{
		Publish:   &server.SubjectPermission{Allow: publish},
		Subscribe: &server.SubjectPermission{Allow: append(subscribe, "_INBOX.>")},
	}
}
